"""Sections of documents: what taggers read one at a time, and predictions put together again."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from langdiff.errors import DataError
from langdiff.parallelism.documents import Document
from langdiff.parallelism.tagging import TaggingScheme


class TaggedSection(NamedTuple):
    """Words of a section, and their tags."""

    words: tuple[str, ...]
    tags: tuple[str, ...]


def words_of_sections(document: Document) -> list[tuple[str, ...]]:
    """Return the words of each section of a document that has any.

    Examples
    --------
    >>> from langdiff.parallelism import Section, make_document
    >>> parts = [Section("1", 0, 2), Section("2", 2, 2), Section("3", 2, 3)]
    >>> words_of_sections(make_document("1", ["a", "rose", "is"], [], parts))
    [('a', 'rose'), ('is',)]
    """
    return [document.tokens[one.start : one.end] for one in document.sections if one.end > one.start]


def tagged_sections(documents: Iterable[Document], scheme: TaggingScheme) -> list[TaggedSection]:
    """Return the sections of documents with the tags of the outermost stratum.

    Documents are tagged whole, so that a parallelism may cross from a section to the next.

    Parameters
    ----------
    documents : iterable of Document
        Documents with their parallelisms.
    scheme : TaggingScheme
        Scheme that writes the tags.

    Returns
    -------
    list of TaggedSection

    Raises
    ------
    DataError
        If two branches of the outermost stratum share a token.
    """
    found = []
    for document in documents:
        tags = scheme.encode(document)
        found += [
            TaggedSection(document.tokens[one.start : one.end], tags[one.start : one.end])
            for one in document.sections
            if one.end > one.start
        ]
    return found


def with_tags(document: Document, tags: Sequence[Sequence[str]], scheme: TaggingScheme) -> Document:
    """Return a document whose parallelisms are read off the tags of its sections.

    Parameters
    ----------
    document : Document
        Document; its own parallelisms are not looked at.
    tags : sequence of sequence of str
        Tags of each section that has words.
    scheme : TaggingScheme
        Scheme that reads the tags.

    Returns
    -------
    Document
        The same document with these parallelisms, some of which may have a single branch.

    Raises
    ------
    DataError
        If there are not as many tags as words.
    """
    joined = [tag for section in tags for tag in section]
    if len(joined) != len(document.tokens):
        raise DataError(f"Document {document.name}: {len(joined)} tags for {len(document.tokens)} tokens.")
    return replace(document, parallelisms=scheme.decode(joined))
