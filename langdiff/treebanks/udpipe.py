"""Parsing texts with UDPipe, for languages without a gold treebank."""

from collections.abc import Iterable, Iterator, Mapping
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from langdiff.base.io import as_path, atomic_path, file_names
from langdiff.base.progress import followed
from langdiff.base.types import import_extra
from langdiff.errors import ConfigError, DataError, listing, option, warn, words

if TYPE_CHECKING:
    from langdiff.tables.multitext import Multitext


class UDPipeParser:
    """Parser of plain text: a UDPipe 1 model that finds sentences, words, lemmas, tags and heads.

    References
    ----------
    Straka, Hajič & Straková (2016), "UDPipe", LREC.

    Examples
    --------
    The model is a file of 20 MB or more, so this example is not run as a test.

    >>> parser = UDPipeParser("english-ewt-ud-2.5-191206.udpipe")  # doctest: +SKIP
    >>> parser.write([("40001001", "Dogs bark. Cats sleep.")], Path("eng.conllu"))  # doctest: +SKIP
    2
    """

    def __init__(self, path: str | Path) -> None:
        """Load the model file."""
        self.path = Path(path).expanduser()
        self._udpipe = import_extra("ufal.udpipe", "Parsing needs UDPipe. Install it: pip install 'langdiff[udpipe]'.")
        if not self.path.is_file():
            raise DataError(
                f"{self.path}: no such file. Give a UDPipe 1 model, such as english-ewt-ud-2.5-191206.udpipe from "
                "lindat.mff.cuni.cz."
            )
        self._model = self._udpipe.Model.load(str(self.path))
        if self._model is None:
            raise DataError(f"{self.path}: not a UDPipe 1 model, or damaged. Download it again and compare its size.")
        if self._model.newTokenizer(self._model.DEFAULT) is None:
            raise DataError(f"{self.path}: the model has no tokenizer. Take one trained on raw text.")

    def parse(self, text: str) -> Iterator[str]:
        """Yield the CoNLL-U of each sentence of a text that is not tokenized, without the empty line at its end."""
        problem = self._udpipe.ProcessingError()
        tokenizer = self._model.newTokenizer(self._model.DEFAULT)
        tokenizer.setText(text)
        conllu = self._udpipe.OutputFormat.newConlluOutputFormat()
        sentence = self._udpipe.Sentence()
        while tokenizer.nextSentence(sentence, problem):
            self._model.tag(sentence, self._model.DEFAULT, problem)
            self._check(problem, text)
            self._model.parse(sentence, self._model.DEFAULT, problem)
            self._check(problem, text)
            lines = conllu.writeSentence(sentence).split("\n")  # not splitlines: U+2028 is part of a text
            comments = ("# newdoc", "# newpar", "# sent_id")  # of this text alone, not of the file
            yield "\n".join(line for line in lines if line and not line.startswith(comments))
        self._check(problem, text)

    def write(self, texts: Iterable[tuple[str, str]], path: Path) -> int:
        """Parse texts into a CoNLL-U file and count its sentences; if that fails, no file is left.

        The sentences of intent ``40001001`` get ``sent_id`` ``40001001-1``, ``40001001-2`` …
        """
        sentences = 0
        with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as stream:
            for intent, text in texts:
                for number, conllu in enumerate(self.parse(text), start=1):
                    stream.write(f"# sent_id = {intent}-{number}\n{conllu}\n\n")
                    sentences += 1
        return sentences

    def _check(self, problem: Any, text: str) -> None:
        if problem.occurred():
            raise DataError(f"{self.path}: UDPipe fails on {text[:60]!r}: {problem.message}")


def parse_multitext(
    multitext: "Multitext",
    models: Mapping[str, str | Path],
    directory: str | Path,
    *,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Parse the texts of editions with UDPipe and write one CoNLL-U file per edition.

    The files are what `langdiff.predictors` takes as treebanks, for languages without a gold one.

    Examples
    --------
    The model is a file of 20 MB or more, so this example is not run as a test.

    >>> import langdiff as ld
    >>> bible = ld.read_multitext("bible/")  # doctest: +SKIP
    >>> parse_multitext(bible, {"deu": "german-gsd.udpipe"}, "parsed")  # doctest: +SKIP
    """
    model_of = _model_by_edition(models, multitext.edition_info["language"])
    parsers = {path: UDPipeParser(path) for path in dict.fromkeys(model_of.values())}
    rows, files = [], file_names(model_of, "edition(s)")
    for name, path in model_of.items():
        texts = [(str(intent), text) for intent, text in multitext.text(name).items()]
        file = as_path(directory) / f"{files[name]}.conllu"
        sentences = parsers[path].write(followed(texts, name, progress=progress, note=itemgetter(0)), file)
        rows.append((name, len(texts), sentences, str(file)))
    return pd.DataFrame(rows, columns=["edition", "intents", "sentences", "file"])


def _model_by_edition(models: Mapping[str, str | Path], language_of: pd.Series) -> dict[str, Path]:
    """Return the model of each edition that has one."""
    languages = {str(edition): str(language) for edition, language in language_of.items()}
    for name, path in models.items():
        if name not in languages and name not in languages.values():
            known = listing(sorted(set(languages.values())))
            given = words(python=option("models"), command=option("models", f"{name}={path}"))
            raise ConfigError(f"{given}: {name!r} is neither an edition nor a language; there are {known}.")
    names = {
        edition: next((n for n in (edition, language) if n in models), None) for edition, language in languages.items()
    }
    found = {edition: Path(models[name]) for edition, name in names.items() if name is not None}
    if without := [edition for edition in languages if edition not in found]:
        warn(f"No model for {len(without)} edition(s), which are left out: {listing(without)}")
    return found
