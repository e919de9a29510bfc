"""Language codes: two letters to three, and names of files to languages."""

from collections.abc import Iterable, Mapping
from pathlib import Path

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
_ISO_639_3 = dict(pair.split(":") for pair in _PAIRS.split())

# Treebanks and lexicons of a standard language are often named by its macrolanguage: zh for cmn
_STANDARD = {
    "ara": "arb",
    "aze": "azj",
    "est": "ekk",
    "fas": "pes",
    "lav": "lvs",
    "mlg": "plt",
    "mon": "khk",
    "msa": "zsm",
    "nep": "npi",
    "ori": "ory",
    "sqi": "als",
    "swa": "swh",
    "uzb": "uzn",
    "yid": "ydd",
    "zho": "cmn",
}


def iso639_3(code: object) -> str | None:
    """Return a code of three letters for one of two or three, None for anything else.

    Examples
    --------
    >>> iso639_3("de"), iso639_3("deu"), iso639_3("German"), iso639_3(float("nan"))
    ('deu', 'deu', None, None)
    """
    if not isinstance(code, str):
        return None
    if len(code) == 3 and code.isascii() and code.isalpha() and code.islower():
        return code
    return _ISO_639_3.get(code)


def files_by_edition(folder: Path, languages: Mapping[str, str | None], what: str) -> dict[str, Path]:
    """Find the file of each edition in a folder.

    A file belongs to the edition that has its name, else to the editions of the language that its name
    begins with: ``deu``, ``deu.tsv.gz``, ``de_pud.conllu``. The code of a macrolanguage stands also for its standard
    language (``zh`` for ``cmn``). Files of other languages are passed over.

    Parameters
    ----------
    folder : Path
        Where to look.
    languages : mapping from edition to str or None
        ISO 639-3.
    what : str
        What the files are, for messages.

    Returns
    -------
    dict from edition to Path
        Editions without a file are left out.

    Raises
    ------
    DataError
        If the folder cannot be read, no file fits any edition, or two fit one.
    """
    try:
        files = sorted(file for file in folder.iterdir() if file.is_file() and not file.name.startswith("."))
    except OSError as error:
        raise DataError(f"{folder}: cannot be read as a folder of {what}: {error.strerror}.") from error
    # the parse of one Bible is not that of the language's others, unless it is called by the language alone
    shared = [file for file in files if _stem(file) not in languages or iso639_3(_stem(file))]
    found: dict[str, Path] = {}
    for edition, language in languages.items():
        fitting = [file for file in files if _stem(file) == edition] or [
            file for file in shared if language is not None and language in _codes(file)
        ]
        if len(fitting) > 1:
            names = listing(file.name for file in fitting)
            raise DataError(
                f"{folder}: {len(fitting)} {what} fit edition {edition!r}: {names}. Say which in a mapping."
            )
        if fitting:
            found[edition] = fitting[0]
    if not found:
        raise DataError(
            f"{folder}: none of {len(files)} file(s), {listing(file.name for file in files)}, fits an edition or a "
            f"language of the multitext, {listing(languages)}. Name them EDITION.… or by language code, or give a "
            "mapping."
        )
    return found


def _stem(file: Path) -> str:
    return file.name.partition(".")[0]


def _codes(file: Path) -> Iterable[str]:
    code = iso639_3(_stem(file).replace("-", "_").partition("_")[0])
    return [] if code is None else [code, _STANDARD.get(code, code)]
