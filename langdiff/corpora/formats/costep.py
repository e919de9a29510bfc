"""CoStEP, the Corrected & Structured Europarl Corpus (Graën, Batinic & Volk 2014): one XML file a day."""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from langdiff._archives import File
from langdiff._progress import progress_bar
from langdiff.corpora.costep_counts import CostepStatistics
from langdiff.corpora.files import Paths, files_in, keep, suffixes_of
from langdiff.corpora.formats.costep_xml import Turn, read_day
from langdiff.corpora.metadata import edition_info_of, find_metadata
from langdiff.errors import ConfigError, DataError, LangdiffWarning
from langdiff.multitext import Multitext, multitext_from_sources

SUFFIXES = suffixes_of(".xml")
_ISO_639_3 = {
    "bg": "bul", "cs": "ces", "da": "dan", "de": "deu", "el": "ell", "en": "eng", "es": "spa", "et": "est",
    "fi": "fin", "fr": "fra", "ga": "gle", "hr": "hrv", "hu": "hun", "it": "ita", "lt": "lit", "lv": "lav",
    "mt": "mlt", "nl": "nld", "pl": "pol", "pt": "por", "ro": "ron", "sk": "slk", "sl": "slv", "sv": "swe",
}  # fmt: skip


@dataclass(frozen=True)
class CostepText:
    """The paragraphs of one language, read when asked for; every file has a part of them.

    Attributes
    ----------
    files : tuple of Path or Member
        The days, in order.
    language : str
        Code of two letters.
    nfc : bool
        Whether texts are normalised to Unicode NFC.
    errors : {"strict", "replace"}
        Whether bytes that are not UTF-8 are an error or become U+FFFD.
    """

    files: tuple[File, ...]
    language: str
    nfc: bool = True
    errors: str = "strict"

    def read(self) -> pd.Series:
        """Return the texts present, indexed by intent, in the order of the files."""
        texts = {
            intent: text
            for file in self.files
            for turn in read_day(file, nfc=self.nfc, errors=self.errors)
            if turn.fits and self.language in turn.paragraphs
            for intent, text in zip(_intents(turn), turn.paragraphs[self.language], strict=True)
            if text
        }
        return pd.Series(list(texts.values()), index=list(texts), dtype=object)


def read_costep(
    path: Paths,
    *,
    metadata: str | Path | None = None,
    editions: Iterable[str] | None = None,
    nfc: bool = True,
    errors: str = "strict",
    progress: bool | None = None,
) -> Multitext:
    """Catalogue the days of CoStEP; the texts stay there until asked for.

    A day is a session, with chapters, in which speakers take turns. What a speaker says is there in up to 21
    languages, in paragraphs, each of which is an intent: ``DATE.CHAPTER.TURN.PARAGRAPH``. Comments of
    those who wrote the minutes are left out; of the markup within paragraphs only the text is kept, an ellipsis
    as ``…`` and a quotation with its quotation marks. A turn whose languages have different numbers of
    paragraphs does not fit, since nobody knows which of them say the same: it is left out, and a warning says
    how many intents that loses (`costep_statistics` gives all the figures).

    Parameters
    ----------
    path : str, Path or sequence of these
        Files, directories (their ``.xml`` files, plain or compressed), zip archives or globs.
    metadata : str or Path, optional
        CSV file with a column ``edition``; see `langdiff.corpora.read_pbc`.
    editions : str or iterable of str, optional
        Languages to keep, in the order wanted; by default all, by code. Which turns fit is judged by all.
    nfc : bool
        Normalise texts to Unicode NFC; the column ``normalization`` of `edition_info` says so.
    errors : {"strict", "replace"}
        Whether bytes that are not UTF-8 are an error or become U+FFFD.
    progress : bool, optional
        Draw a progress bar or not; by default only if stderr is a terminal.

    Returns
    -------
    Multitext
        One edition a language, called by its code of two letters. The columns of `intent_info` are
        ``session`` (the date), ``chapter`` and ``turn``; ``president``, whether the president speaks, whose language is
        never noted; and ``original_language``, the speaker's, ``"und"`` if it is not known.

    Raises
    ------
    DataError
        If nothing is found, a file is damaged, no XML, not UTF-8 or no session, holds entities, or two have the
        same turn.
    ConfigError
        If `errors` is neither of the two.

    Warns
    -----
    LangdiffWarning
        If turns do not fit.

    Notes
    -----
    To read the texts of one language, all files are parsed. For more than a look, save them once in a format with
    one file an edition, with `langdiff.corpora.write_multitext`.

    References
    ----------
    Graën, Batinic & Volk (2014), "Cleaning the Europarl Corpus for Linguistic Applications", KONVENS. Use as
    in Mielke et al. (2019), appendix D.

    Examples
    --------
    >>> import tempfile
    >>> day = '''<session date="1999-07-20"><chapter id="1"><turn id="1"><speaker president="no" language="de">
    ...   <text language="de"><p type="speech">Vielen Dank<ellipsis/></p></text>
    ...   <text language="en"><p type="speech">Thank you very much.</p><p type="comment">(Applause)</p></text>
    ... </speaker></turn></chapter></session>'''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "1999-07-20.xml").write_text(day)
    ...     multitext = read_costep(folder)
    ...     print(multitext.text("de").to_dict())
    {'1999-07-20.1.1.1': 'Vielen Dank…'}
    >>> multitext.intent_info["original_language"].to_list()
    ['de']
    """
    statistics = costep_statistics(
        path, metadata=metadata, editions=editions, nfc=nfc, errors=errors, progress=progress
    )
    if statistics.lost_intents:
        warnings.warn(statistics.loss(), LangdiffWarning, stacklevel=2)
    return statistics.multitext


def costep_statistics(
    path: Paths,
    *,
    metadata: str | Path | None = None,
    editions: Iterable[str] | None = None,
    nfc: bool = True,
    errors: str = "strict",
    progress: bool | None = None,
) -> CostepStatistics:
    """Read CoStEP and say what was lost, who speaks how much natively, and where that is not known.

    Parameters
    ----------
    path, metadata, editions, nfc, errors, progress
        See `read_costep`, also for the errors.

    Returns
    -------
    CostepStatistics
        The multitext is in there; nothing is warned of.
    """
    if errors not in ("strict", "replace"):
        raise ConfigError(f"errors must be 'strict' or 'replace', got {errors!r}.")
    if not isinstance(path, (str, Path)) and hasattr(path, "keys"):
        raise ConfigError("path: CoStEP has one file a day, not one an edition; give a directory, a glob or a list.")
    files = tuple(sorted(files_in(path, SUFFIXES), key=lambda file: (file.name, str(file))))
    catalogue = _Catalogue()
    with progress_bar(progress=progress) as bar:
        task = bar.add_task("cataloguing", total=len(files), note="")
        for file in files:
            bar.update(task, note=file.name)
            for turn in read_day(file, nfc=nfc, errors=errors):
                catalogue.add(turn, file)
            bar.advance(task)
    turns = catalogue.table()
    if not catalogue.intents:
        raise DataError(f"{files[0]}{f' and {len(files) - 1} other(s)' if files[1:] else ''}: no turn with text fits.")
    kept = keep(dict(sorted(catalogue.present.items())), editions)
    known = pd.DataFrame(index=pd.Index([], dtype=object))
    if metadata is not None:
        known = find_metadata({language: Path(language) for language in kept}, metadata)
    info = edition_info_of(kept, known, {code: {"language": _ISO_639_3.get(code, code)} for code in kept})
    multitext = multitext_from_sources(
        {language: CostepText(files, language, nfc, errors) for language in kept},
        kept,
        intents=catalogue.intents,
        edition_info=info.assign(normalization="NFC" if nfc else "as is"),
        intent_info=_intent_info(catalogue.intents, turns),
    )
    return CostepStatistics(multitext=multitext, turns=turns, days=len(files))


class _Catalogue:
    """What has been read so far."""

    def __init__(self) -> None:
        self.intents: list[str] = []
        self.present: dict[str, list[str]] = {}
        self._turns: dict[str, tuple[bool, str, int, int, bool]] = {}
        self._files: dict[str, File] = {}

    def add(self, turn: Turn, file: File) -> None:
        """Note a turn, and its intents if it fits."""
        if self._files.setdefault(turn.name, file) is not file or turn.name in self._turns:
            first = self._files[turn.name]
            where = f"{file}" if first is file else f"{first} and {file}"
            raise DataError(f"{where}: turn {turn.name} is there twice.")
        sizes = len(turn.paragraphs), turn.intents
        self._turns[turn.name] = (turn.president, turn.language, *sizes, turn.fits)
        intents = _intents(turn)  # once, as the names take more memory than all else
        for language, paragraphs in turn.paragraphs.items():
            have = self.present.setdefault(language, [])
            if turn.fits:
                have += [intent for intent, text in zip(intents, paragraphs, strict=True) if text]
        if turn.fits:
            self.intents += intents

    def table(self) -> pd.DataFrame:
        """Return one row a turn."""
        columns = ["president", "original_language", "languages", "intents", "fits"]
        return pd.DataFrame.from_dict(self._turns, orient="index", columns=columns).rename_axis("turn")


def _intents(turn: Turn) -> list[str]:
    return [f"{turn.name}.{number}" for number in range(1, turn.intents + 1)]


def _intent_info(intents: list[str], turns: pd.DataFrame) -> pd.DataFrame:
    names = [intent.rsplit(".", 1)[0] for intent in intents]
    session, chapter, turn = zip(*(name.rsplit(".", 2) for name in names), strict=True)
    said = turns.loc[names, ["president", "original_language"]].set_axis(intents)
    return pd.DataFrame({"session": session, "chapter": chapter, "turn": turn}, index=intents).join(said)
