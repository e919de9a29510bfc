"""Handler of XML events for corpora, which records faults with their place."""

from langdiff.base.archives import File
from langdiff.base.xml import XmlEvents, read_xml
from langdiff.corpora.faults import Damage, Faults, Place

LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"


class Events(XmlEvents):
    """Handler of the starts and ends of elements, with the faults found so far.

    Attributes
    ----------
    faults : Faults
        What is wrong with the file.
    damage : Damage
        Lines of it that are not text.
    """

    def __init__(self, file: File, faults: Faults) -> None:
        super().__init__(file)
        self.faults, self.damage = faults, Damage(file, faults)

    def where(self) -> Place:
        """Return the file and the current line."""
        return Place(self.file, self.line)

    def fault(self, what: str, intent: str | None = None) -> None:
        """Add a fault in the current line, because of which a text is left out."""
        self.faults.add(self.file, self.line, what, intent=intent)

    def damaged(self, line: int, what: str) -> None:
        """Record a line that cannot be decoded until its intent is known."""
        self.damage.note(line, what)


def read_corpus_xml(file: File, events: Events, *, errors: str = "strict") -> None:
    """Parse a file as `langdiff.base.xml.read_xml` does, with damaged lines outside texts as faults."""
    try:
        read_xml(file, events, errors=errors)
    finally:
        events.damage.close()
