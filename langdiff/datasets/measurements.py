"""Bits measured with langdiff on texts in many languages, without the texts."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Any

import pandas as pd

from langdiff.base.cells import read_exact_csv
from langdiff.datasets.published_figures import goldfish2024
from langdiff.errors import ConfigError, listing
from langdiff.tables.surprisals import Surprisals

LICENCE = (
    "Measurements made with langdiff; Apache-2.0. The texts are not included: Bibles are in the public domain or under "
    "a Creative Commons licence (see editions), NTREX-128 (Federmann, Kocmi and Xin 2022) and FLORES-200 (NLLB Team "
    "2022) under CC BY-SA 4.0."
)
MEASUREMENTS, ATLAS = "measurements", "atlas"  # names of files
GOLDFISH = (5, 10, 100, 1000)  # megabytes
OTHERS = {"xglm-7.5b": "xglm7b5", "bloom-7.1b": "bloom7b1"}  # multilingual models, columns of their figures
TESTAMENTS = "testaments"
CORPORA = ("nt", "ntrex", "flores200")
NTREX10 = "ntrex10"  # tables that only `ntrex10` has, outside the study of three corpora
LANGUAGES = {
    "dan": ("Danish", "Germanic"),
    "deu": ("German", "Germanic"),
    "eus": ("Basque", "Basque"),
    "fin": ("Finnish", "Uralic"),
    "fra": ("French", "Romance"),
    "hun": ("Hungarian", "Uralic"),
    "ita": ("Italian", "Romance"),
    "nld": ("Dutch", "Germanic"),
    "spa": ("Spanish", "Romance"),
    "vie": ("Vietnamese", "Austroasiatic"),
}
TEN = tuple(LANGUAGES)
COMPRESSOR = "ppmd"  # one number per edition
UNIT = 100  # the file holds hundredths of a bit


class Measurements(Mapping[str, "Surprisals | pd.Series[float]"]):
    """Tables of bits by name, such as ``"ntrex/kneser-ney-6/1300"``: corpus, language model, training intents.

    Attributes
    ----------
    facets : DataFrame
        One row per table: ``corpus``, ``lm``, ``size`` (training intents), and in the atlas ``megabytes`` of training
        text, where a model was trained on an amount of text.
    languages : DataFrame
        One row per edition, which is named after its corpus and its file: ``glottocode`` and ``family``.
    editions : DataFrame
        One row per edition: ``corpus``, ``language`` (ISO 639-3), ``glottocode``, ``family``, ``title``,
        ``year``, ``licence`` of the text; all in words. In the atlas also ``name`` of the language, ``source``,
        ``verses``, ``text`` ("no" where it may not be passed on), ``script``, ``marked`` and ``representative``.
    licence : str
        Terms of the measurements and of the texts.

    Examples
    --------
    >>> import langdiff as ld
    >>> made = ld.datasets.three_corpora()
    >>> made["ntrex/kneser-ney-6/1300"].bits.shape[1] == len(made["flores200/ppmd/325"])
    True
    """

    licence = LICENCE

    def __init__(self, tables: Mapping[str, "Surprisals | pd.Series[float]"], editions: pd.DataFrame) -> None:
        self._tables = dict(tables)
        rows = [(*name.split("/"), "")[:4] for name in self._tables]
        facets = pd.DataFrame(rows, columns=["corpus", "lm", "size", "megabytes"], index=list(self._tables))
        self.facets = facets.loc[:, (facets != "").any()]
        self.editions = editions
        self.languages = editions[["glottocode", "family"]]

    def sel(self, editions: Iterable[str] | None = None, **facets: str) -> "Measurements":
        """Return the tables with some values of their facets, with some of their editions.

        Parameters
        ----------
        editions : iterable of str, optional
            Names of editions to keep, in whichever tables have them.
        **facets
            Values by column of `facets`, such as ``lm="kneser-ney-6"``.

        Raises
        ------
        ConfigError
            If there is no such facet, no such edition or no such table.

        Examples
        --------
        >>> import langdiff as ld
        >>> three_corpora().sel(lm="kneser-ney-6", size="1300")
        Measurements: 3 tables of 3 corpora, 27 languages
        """
        if unknown := [name for name in facets if name not in self.facets]:
            raise ConfigError(f"no facet {listing(unknown)}; there are {listing(self.facets)}.")
        kept = self.editions.index if editions is None else pd.Index(list(editions), dtype=object)
        if absent := [edition for edition in kept if edition not in self.editions.index]:
            raise ConfigError(f"no edition {listing(absent)}; editions are called like {self.editions.index[0]!r}.")
        chosen = self.facets.index[(self.facets[list(facets)] == pd.Series(facets, dtype=object)).all(axis=1)]
        found: dict[str, Surprisals | pd.Series[float]] = {}
        for name in chosen:
            table = self._tables[name]
            own = (table.index if isinstance(table, pd.Series) else table.editions).intersection(kept, sort=False)
            if len(own):
                found[name] = table[own] if isinstance(table, pd.Series) else table.sel(editions=list(own))
        if not found:
            raise ConfigError(f"no table has {facets or 'these editions'}; see the attribute facets.")
        some = {
            e for table in found.values() for e in (table.index if isinstance(table, pd.Series) else table.editions)
        }
        return Measurements(found, self.editions[self.editions.index.isin(some)])

    def __getitem__(self, name: str) -> "Surprisals | pd.Series[float]":
        """Return a table; of a compressor, the bits of whole editions."""
        if name not in self._tables:
            raise KeyError(f"{name!r}; there are {listing(self._tables, most=9)}")
        return self._tables[name]

    def __iter__(self) -> Iterator[str]:
        """Yield the names of the tables."""
        return iter(self._tables)

    def __len__(self) -> int:
        """Return the number of tables."""
        return len(self._tables)

    def __repr__(self) -> str:
        """Return the number of tables and of languages."""
        corpora = self.facets["corpus"].nunique()
        languages = self.languages["glottocode"].nunique()
        return f"Measurements: {len(self)} tables of {corpora} corpora, {languages} languages"


def testaments(lm: str = "char-residual-quick") -> Surprisals:  # noqa: PT028 - not a test
    """Return the bits of 20 New Testaments in 19 languages, shipped with the package.

    Passages that are out of step with the other editions were left out (`langdiff.corpora.check_alignment`), so that
    the verses are those that all 20 editions have in step.

    Parameters
    ----------
    lm : str
        The language model, which learned from 5,209 verses of each edition: the character LSTM
        ``"char-residual-quick"``, ``"bpe-residual-quick"`` or the character 6-grams ``"kneser-ney-6"``.

    Returns
    -------
    Surprisals
        Test verses × 20 editions in bits, with the characters of each and ``book`` and ``chapter`` of the verses.

    Raises
    ------
    ConfigError
        If the package has no bits of this language model.

    Examples
    --------
    >>> import langdiff as ld
    >>> fit = ld.fit(testaments())
    >>> fit.difficulty.idxmin()
    'heb-modern'
    """
    names = [name for name in _cells()["table"].unique() if name.startswith(f"{TESTAMENTS}/")]
    known = {name.split("/")[1]: name for name in names}
    if lm not in known:
        raise ConfigError(f"there are no bits of the New Testaments by {lm!r}; there are those of {listing(known)}.")
    return _surprisals(known[lm])


def three_corpora() -> Measurements:
    """Return the bits of 27 languages in New Testaments, NTREX and FLORES-200, shipped with the package.

    One edition per language and corpus; character 6-grams, PPMd, and the networks ``char-residual-quick`` and
    ``bpe-residual-quick`` with one seed, which learned from 325 and from 1,300 intents.
    Passages that are out of step with the other editions were left out.

    Returns
    -------
    Measurements
        Mapping from ``"CORPUS/LM/SIZE"`` to `Surprisals`, of PPMd to a Series of bits per edition.

    Examples
    --------
    >>> import langdiff as ld
    >>> made = three_corpora()
    >>> made
    Measurements: 24 tables of 3 corpora, 27 languages
    >>> shares = ld.difficulty_shares(made)
    >>> round(float(shares.frame["share"].iloc[0]), 1)
    0.5
    """
    names = [name for name in _cells()["table"].unique() if name.split("/")[0] in CORPORA]
    editions = read_exact_csv(_file("measurements_editions.csv"), index_col="edition", dtype=str)
    tables = {name: _totals(name) if name.split("/")[1] == COMPRESSOR else _surprisals(name) for name in names}
    used = _cells()["edition"][_cells()["table"].isin(names)].unique()
    return Measurements(tables, editions[editions.index.isin(used)])


def edition_atlas() -> Measurements:
    """Return the bits of 165 New Testaments in 43 languages and of other corpora, shipped with the package.

    Editions are marked where a script, points, brackets, digits, length or simple words set them apart from others of
    their language (`langdiff.corpora.edition_marks`), and one of each language is representative.

    Returns
    -------
    Measurements
        Mapping from ``"CORPUS/LM/SIZE"`` to `Surprisals`: ``nt``, 404 test verses, by ``kneser-ney-6`` for all editions
        and ``char-residual-quick`` for one per language; ``ntrex`` and ``flores200`` as in
        `three_corpora`; ``pud``, 16 languages. To Series of totals: those of the monolingual Goldfish models on
        FLORES-200, as ``"flores200/goldfish//5"`` for 5 megabytes, and of ``xglm-7.5b`` and ``bloom-7.1b``, for
        languages that they were trained on.

    Examples
    --------
    >>> import langdiff as ld
    >>> atlas = edition_atlas()
    >>> nt = atlas.sel(corpus="nt", lm="kneser-ney-6", size="1300")
    >>> nt
    Measurements: 1 tables of 1 corpora, 43 languages
    >>> len(nt.editions), int((nt.editions["marked"] == "").sum())
    (165, 142)
    >>> shares = ld.difficulty_shares(atlas.sel(lm="goldfish"))
    >>> shares.frame["share"].round(2).to_dict()
    {'language': 0.72, 'language:megabytes': 0.28}
    """
    editions = read_exact_csv(_file("atlas_editions.csv"), index_col="edition", dtype=str, keep_default_na=False)
    shared = [name for name in _cells()["table"].unique() if name.split("/")[0] in CORPORA[1:]]
    tables: dict[str, Surprisals | pd.Series[float]]
    tables = {name: _surprisals(name, ATLAS) for name in _cells(ATLAS)["table"].unique()}
    tables |= {name: _totals(name) if name.split("/")[1] == COMPRESSOR else _surprisals(name) for name in shared}
    return Measurements(tables | _published(), editions)


def _published() -> dict[str, "pd.Series[float]"]:
    """Return totals of the models of Goldfish on FLORES-200, and of two multilingual ones, by language of their own."""
    figures = goldfish2024().figures
    own = figures[figures["goldfish_used"] == figures.index].rename(
        index=lambda code: f"flores200:{code[:4]}{code[4:].title()}"
    )
    own = own[own["goldfish_1000mb"].notna()]
    tables = {f"flores200/goldfish//{size}": own[f"goldfish_{size}mb"] for size in GOLDFISH}
    tables |= {f"flores200/{lm}/": own.loc[own[f"in_{column}"], column] for lm, column in OTHERS.items()}
    return {name: table.rename("bits").rename_axis("edition") for name, table in tables.items()}


def ntrex10() -> tuple[Surprisals, Surprisals]:
    """Return the bits of ten languages in NTREX by two language models, shipped with the package.

    Character 3-grams and 6-grams that learned from 1,300 sentences, on 335 test sentences of 82 documents. The rows of
    ``edition_info`` have the ``name`` of each language, its ``family`` or, of Indo-European ones, its branch.

    Returns
    -------
    tuple of Surprisals
        By ``kneser-ney-3``, and by ``kneser-ney-6``.

    Examples
    --------
    >>> import langdiff as ld
    >>> short, long = ntrex10()
    >>> short
    Surprisals by kneser-ney-3: 335 intents × 10 editions, 0 of 3,350 cells missing
    >>> long.edition_info["family"].value_counts().head(2).to_dict()
    {'Germanic': 3, 'Romance': 3}
    """
    short, added = (_surprisals(f"{NTREX10}/{lm}/1300") for lm in ("kneser-ney-3", "kneser-ney-6"))
    study = _surprisals("ntrex/kneser-ney-6/1300")
    editions = [f"ntrex:{name}" for name in TEN]
    frames = {
        name: pd.concat([getattr(study, name), getattr(added, name)], axis=1)[editions]
        for name in ("bits", "characters")
    }
    long = Surprisals(**frames, intent_info=study.intent_info, lm=study.lm)
    return _named_by_language(short.sel(editions=editions)), _named_by_language(long)


def _named_by_language(table: Surprisals) -> Surprisals:
    """Return a table of `ntrex10` with plain codes of languages, their families and their names."""
    frames: dict[str, Any] = {
        name: frame.set_axis(list(TEN), axis=1) for name, frame in {"bits": table.bits, **table.beside()}.items()
    }
    info = pd.DataFrame.from_dict(LANGUAGES, orient="index", columns=["name", "family"])
    return Surprisals(**frames, intent_info=table.intent_info, edition_info=info.loc[list(TEN)], lm=table.lm)


def _totals(name: str) -> "pd.Series[float]":
    """Return the bits of whole editions."""
    own = _cells()[_cells()["table"] == name]
    return pd.Series(own["bits"].to_numpy() / UNIT, index=pd.Index(own["edition"], dtype=object, name="edition"))


def _surprisals(name: str, source: str = MEASUREMENTS) -> Surprisals:
    own = _cells(source)[_cells(source)["table"] == name]
    corpus, lm, _ = name.split("/")
    known = _intents(source)[corpus.removesuffix("10")]
    editions = pd.Index(own["edition"].unique().astype(object), name="edition")

    def wide(column: str) -> pd.DataFrame:
        values = own[column].to_numpy().reshape(len(editions), len(known)).T
        return pd.DataFrame(values.astype(float), index=known.index, columns=editions)

    info = known.dropna(axis="columns", how="all")
    return Surprisals(
        bits=wide("bits") / UNIT, characters=wide("characters"), intent_info=info if info.shape[1] else None, lm=lm
    )


@cache
def _cells(source: str = MEASUREMENTS) -> pd.DataFrame:
    """Return all cells: ``table``, ``edition``, number of the ``intent``, ``bits`` in hundredths, ``characters``."""
    with resources.as_file(_file(f"{source}.parquet")) as path:
        return pd.read_parquet(path)


@cache
def _intents(source: str = MEASUREMENTS) -> dict[str, pd.DataFrame]:
    """Return the attributes of the test intents of each corpus."""
    table = read_exact_csv(_file(f"{source}_intents.csv"), dtype=str)
    return {str(corpus): own.drop(columns="corpus").set_index("intent") for corpus, own in table.groupby("corpus")}


def _file(name: str) -> Any:
    return resources.files("langdiff.datasets") / name
