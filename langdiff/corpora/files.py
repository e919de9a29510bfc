"""Files of a path, directory, glob or archive, and the editions and languages (ISO 639-3) in their names."""

import glob
import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import TypeVar

from langdiff.base.archives import ARCHIVES, COMPRESSED, File, is_archive, members_of
from langdiff.errors import DataError, listing

# ISO 639-1:ISO 639-3
_PAIRS = """
aa:aar ab:abk ae:ave af:afr ak:aka am:amh an:arg ar:ara as:asm av:ava ay:aym az:aze ba:bak be:bel bg:bul bi:bis
bm:bam bn:ben bo:bod br:bre bs:bos ca:cat ce:che ch:cha co:cos cr:cre cs:ces cu:chu cv:chv cy:cym da:dan de:deu
dv:div dz:dzo ee:ewe el:ell en:eng eo:epo es:spa et:est eu:eus fa:fas ff:ful fi:fin fj:fij fo:fao fr:fra fy:fry
ga:gle gd:gla gl:glg gn:grn gu:guj gv:glv ha:hau he:heb hi:hin ho:hmo hr:hrv ht:hat hu:hun hy:hye hz:her ia:ina
id:ind ie:ile ig:ibo ii:iii ik:ipk io:ido is:isl it:ita iu:iku ja:jpn jv:jav ka:kat kg:kon ki:kik kj:kua kk:kaz
kl:kal km:khm kn:kan ko:kor kr:kau ks:kas ku:kur kv:kom kw:cor ky:kir la:lat lb:ltz lg:lug li:lim ln:lin lo:lao
lt:lit lu:lub lv:lav mg:mlg mh:mah mi:mri mk:mkd ml:mal mn:mon mr:mar ms:msa mt:mlt my:mya na:nau nb:nob nd:nde
ne:nep ng:ndo nl:nld nn:nno no:nor nr:nbl nv:nav ny:nya oc:oci oj:oji om:orm or:ori os:oss pa:pan pi:pli pl:pol
ps:pus pt:por qu:que rm:roh rn:run ro:ron ru:rus rw:kin sa:san sc:srd sd:snd se:sme sg:sag sh:hbs si:sin sk:slk
sl:slv sm:smo sn:sna so:som sq:sqi sr:srp ss:ssw st:sot su:sun sv:swe sw:swa ta:tam te:tel tg:tgk th:tha ti:tir
tk:tuk tl:tgl tn:tsn to:ton tr:tur ts:tso tt:tat tw:twi ty:tah ug:uig uk:ukr ur:urd uz:uzb ve:ven vi:vie vo:vol
wa:wln wo:wol xh:xho yi:yid yo:yor za:zha zh:zho zu:zul
"""
# withdrawn from ISO 639-1, but still in names of files: ISO 639-3
_FORMER = "iw:heb in:ind ji:yid jw:jav mo:ron scc:srp scr:hrv"
# ISO 639-2/B, the codes of libraries:ISO 639-3
_BIBLIOGRAPHIC = """
alb:sqi arm:hye baq:eus bur:mya chi:zho cze:ces dut:nld fre:fra geo:kat ger:deu gre:ell ice:isl mac:mkd mao:mri
may:msa per:fas rum:ron slo:slk tib:bod wel:cym
"""
ISO_639_3 = dict(pair.split(":") for pair in (_PAIRS + _FORMER + _BIBLIOGRAPHIC).split())
_GROUPS = """
aka ara aym aze bal bik bnc bua chm cre del den din doi est fas ful gba gon grb grn hai hbs hmn iku ipk jrb kau kln
kok kom kon kpe kur lah lav luy man mlg mon msa mwr nep nor oji ori orm pus que raj rom sqi srd swa syr tmh uzb yid
zap zha zho zza
"""
MACROLANGUAGES = frozenset(_GROUPS.split())  # codes of ISO 639-3 for groups of languages
Paths = str | Path | Sequence[str | Path] | Mapping[str, str | Path]
T = TypeVar("T")
DOCUMENTS = ("README", "LICENSE", "LICENCE", "COPYING", "CITATION")
logger = logging.getLogger(__name__)


def iso639_3(code: object) -> str | None:
    """Return the ISO 639-3 code for a code of ISO 639-3, 639-1 or 639-2; None for anything else.

    Codes from ``qaa`` to ``qtz``, which the standard leaves to its users, count as languages; ``und``, ``mis``, ``mul``
    and ``zxx``, which are not languages, do not.

    Examples
    --------
    >>> iso639_3("deu"), iso639_3("de"), iso639_3("ger"), iso639_3("qaa")
    ('deu', 'deu', 'deu', 'qaa')
    >>> iso639_3("xyz"), iso639_3("und"), iso639_3("German"), iso639_3(float("nan"))
    (None, None, None, None)
    """
    if not isinstance(code, str):
        return None
    is_own = len(code) == 3 and code.isascii() and code.isalpha() and code.islower() and "qaa" <= code <= "qtz"
    return code if is_own or code in _codes() else ISO_639_3.get(code)


def contradict(one: str, other: str) -> bool:
    """Return whether two ISO 639-3 codes denote different languages, neither being a group of languages.

    Examples
    --------
    >>> contradict("deu", "eng"), contradict("zho", "cmn")
    (True, False)
    """
    return one != other and not {one, other} & MACROLANGUAGES


@cache
def _codes() -> frozenset[str]:
    lines = Path(__file__).with_name("iso639_3.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(code for line in lines if not line.startswith("#") for code in line.split())


def suffixes_of(*plain: str) -> tuple[str, ...]:
    """Return the endings of file names, both plain and compressed.

    Examples
    --------
    >>> suffixes_of(".txt")
    ('.txt', '.txt.gz', '.txt.bz2', '.txt.xz')
    """
    return tuple(suffix + packed for suffix in plain for packed in ("", *COMPRESSED))


NO_TEXTS = (*suffixes_of(".csv", ".tsv", ".json"), ".toml", ".md", ".html", ".pdf")


def find_files(
    path: Paths, suffixes: Sequence[str], editions: Iterable[str] | None, beside: Sequence[str] = ()
) -> dict[str, File]:
    """Return the file of every edition.

    Parameters
    ----------
    path : str, Path, sequence of these, or mapping from edition to one file
        Files, zip or tar archives and directories (their files with one of the suffixes, or if there are
        none, their archives), or globs.
    suffixes : sequence of str
        Endings of the format's file names, such as ``.txt.gz``; case does not matter.
    editions : str or iterable of str, optional
        Editions to keep, in the order wanted; by default all, by name.
    beside : sequence of str, optional
        Names of files that are not editions; if given, names may also end in a language (`by_language_ending`).

    Returns
    -------
    dict from edition to Path or Member
        The edition is the file's name without its suffix, or the key of the mapping.

    Raises
    ------
    DataError
        If nothing is found, two files are the same edition, or an edition asked for has no file.
    """
    found: dict[str, File] = {}
    if isinstance(path, Mapping):
        for edition, one in path.items():
            files = files_in(one, suffixes)
            if len(files) > 1:
                raise DataError(f"edition {edition!r}: {one} is {len(files)} files; name one.")
            found[str(edition)] = files[0]
        return keep(found, editions)
    files = files_in(path, suffixes)
    if beside:
        others = [file for file in files if edition_of(file, suffixes) not in beside]
        found = by_language_ending(others, suffixes)
        files = [file for file in files if file not in others] if found else files
    for file in files:
        edition = edition_of(file, suffixes)
        if found.setdefault(edition, file) != file:
            raise DataError(
                f"two files are edition {edition!r}: {found[edition]} and {file}. "
                "Rename one, or give the files by edition, as a mapping."
            )
    return keep(dict(sorted(found.items())), editions)


def files_in(path: str | Path | Sequence[str | Path], suffixes: Sequence[str], *, tell: bool = True) -> list[File]:
    """Return the files that paths, directories, archives and globs stand for.

    Other files of a directory are named in the log if `tell` is true, except tables and documents beside texts.

    Raises
    ------
    DataError
        If one of them does not stand for any file.
    """
    paths = [path] if isinstance(path, (str, Path)) or not isinstance(path, Iterable) else list(path)
    if not paths:
        raise DataError("no path given: the list of paths is empty.")
    if bad := [one for one in paths if not isinstance(one, (str, Path))]:
        raise DataError(f"a path must be a str or Path, got {bad[0]!r}.")
    found: list[File] = []
    for one in paths:
        for file in _expand(Path(one).expanduser(), suffixes, tell):
            found += _in_archive(file, suffixes) if is_archive(file) else [file]
    return found


def keep(found: dict[str, T], editions: Iterable[str] | None) -> dict[str, T]:
    """Return the requested editions in the requested order; by default all.

    Raises
    ------
    DataError
        If an edition is not there, or the list of those asked for is empty.
    """
    if editions is None:
        return found
    wanted = [editions] if isinstance(editions, str) else list(dict.fromkeys(editions))
    unknown = [edition for edition in wanted if edition not in found]
    if unknown:
        raise DataError(f"no file for {len(unknown)} edition(s): {listing(unknown)}. Found: {listing(sorted(found))}.")
    if not wanted:
        raise DataError("no edition asked for: editions is empty.")
    return {edition: found[edition] for edition in wanted}


def edition_of(file: File, suffixes: Sequence[str]) -> str:
    """Return the edition's name: the file's name without its suffix.

    Examples
    --------
    >>> edition_of(Path("bible/deu-luther1912.txt.gz"), [".txt", ".txt.gz"])
    'deu-luther1912'
    """
    for suffix in sorted(suffixes, key=len, reverse=True):
        if file.name.lower().endswith(suffix) and len(file.name) > len(suffix):
            return file.name[: -len(suffix)]
    return Path(file.name).stem


def by_language_ending(files: Iterable[File], suffixes: Sequence[str]) -> dict[str, File]:
    """Return files by the language codes that end their names; nothing if fewer than nine of ten names end so.

    Of two files of one language, the one with the shorter name has the code, the other the code and what its name has
    more.

    Examples
    --------
    >>> names = ["ref.deu.txt", "ref.spa.txt", "ref-2.spa.txt"]
    >>> {edition: file.name for edition, file in by_language_ending(map(Path, names), [".txt"]).items()}
    {'deu': 'ref.deu.txt', 'spa': 'ref.spa.txt', 'spa-2': 'ref-2.spa.txt'}
    >>> by_language_ending(map(Path, ["deu_Latn.dev", "eng_Latn.dev"]), [".txt"])
    {}
    """
    named: dict[str, list[tuple[str, File]]] = {}
    n_files = n_codes = 0
    for file in files:
        name = file.name
        suffix = next((one for one in sorted(suffixes, key=len, reverse=True) if name.lower().endswith(one)), "")
        rest, _, last = name.removesuffix(name[len(name) - len(suffix) :] if suffix else "").rpartition(".")
        if not rest:
            return {}
        n_files += 1
        n_codes += language_of(last) is not None
        named.setdefault(last, []).append((rest, file))
    if n_files < 2 or n_codes < 0.9 * n_files or len(named) <= 0.5 * n_files:
        return {}
    found: dict[str, File] = {}
    for code, own in named.items():
        (shortest, first), *others = sorted(own, key=lambda one: (len(one[0]), one[0]))
        found[code] = first
        for rest, file in others:
            same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(shortest, rest, strict=False)))
            more = rest[same:].strip("-_. ")
            found[f"{code}-{more}"] = file
    return dict(sorted(found.items())) if len(found) == n_files else {}


def language_of(edition: str) -> str | None:
    """Return the ISO 639-3 code of the language code that an edition's name begins with, in ISO 639-3 or ISO 639-1.

    Examples
    --------
    >>> language_of("deu-x-bible-luther1912-v1"), language_of("de_DE"), language_of("luther")
    ('deu', 'deu', None)
    """
    match = re.match(r"[a-z]{2,3}(?=[-_]|\Z)", edition)
    return iso639_3(match[0]) if match else None


def _expand(path: Path, suffixes: Sequence[str], tell: bool) -> list[Path]:
    try:
        if path.is_dir():
            # archives only where no file is beside them: if they were unpacked there, texts would be read twice
            files = _visible(path, suffixes) or _visible(path, ARCHIVES)
            if not files:
                inside = sorted(f"{one.name}/" for one in path.iterdir() if one.is_dir())
                deeper = f" For its directories ({', '.join(inside[:5])}), write {path}/*." if inside else ""
                called = f"{_called(suffixes)}, or *{', *'.join(ARCHIVES)}"
                raise DataError(f"{path}: no file in this directory is called {called}.{deeper}")
            if tell and (ignored := _texts_beside(path, files)):
                logger.warning("%s: not read, as not called %s: %s", path, _called(suffixes), listing(ignored))
        elif path.exists():
            files = [path]
        elif glob.has_magic(str(path)):
            names = glob.glob(str(path), recursive=True)  # noqa: PTH207 (Path.glob takes no absolute pattern)
            files = [Path(name) for name in names if Path(name).is_file()]
            if not files:  # directories of books
                files = [file for name in names for file in _expand(Path(name), suffixes, tell)]
            if not files:
                raise DataError(f"{path}: no file matches this pattern (looked in {Path.cwd()}).")
        else:
            raise DataError(f"{path}: no such file or directory.")
    except OSError as error:
        raise DataError(f"{str(path)[:200]}: this path cannot be read: {error.strerror}.") from error
    return sorted(file.absolute() for file in files)


def _in_archive(archive: Path, suffixes: Sequence[str]) -> Sequence[File]:
    files = [member for member in members_of(archive) if member.name.lower().endswith(tuple(suffixes))]
    if not files:
        raise DataError(f"{archive}: no file in this archive is called {_called(suffixes)}.")
    return files


def _visible(folder: Path, suffixes: Sequence[str]) -> list[Path]:
    files = (file for file in folder.iterdir() if not file.name.startswith("."))
    return [file for file in files if file.name.lower().endswith(tuple(suffixes)) and file.is_file()]


def _texts_beside(folder: Path, files: Sequence[Path]) -> list[str]:
    """Return the names of the other files in a folder, as far as they may hold texts."""
    names = [file.name for file in _visible(folder, ("",)) if file not in files]
    return sorted(name for name in names if not name.lower().endswith(NO_TEXTS) and not name.startswith(DOCUMENTS))


def _called(suffixes: Sequence[str]) -> str:
    plain = [suffix for suffix in suffixes if not suffix.endswith(COMPRESSED)]
    return f"*{', *'.join(plain)} (or compressed)"
