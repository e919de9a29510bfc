"""Baselines without networks: n-grams and compressors, and the advantage of language models over them."""

import lzma
from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec

import pandas as pd

from langdiff.base.progress import progress_bar
from langdiff.base.types import import_extra
from langdiff.errors import DataError, listing, warn
from langdiff.lm.language_model import TrainingPlan
from langdiff.lm.ngram.recipe import KneserNeyRecipe, fit_kneser_ney
from langdiff.lm.texts import check_texts, naming
from langdiff.tables.multitext import Parts
from langdiff.tables.surprisals import Surprisals

ORDERS = (6, 10, 16)  # of the n-grams

PPMD_ORDER = 16  # longer histories change the sixth digit
PPMD_MEMORY = 256 << 20  # bytes; a model that outgrows them begins anew


def measure_baselines(parts: Parts, *, progress: bool | None = None) -> pd.DataFrame:
    """Measure the bits of character n-grams and compressors on the test part, edition by edition.

    Each learns from the training part. Characters that are too rare in training are replaced and priced, as for
    language models, so that all figures are about the same string.

    Parameters
    ----------
    parts : Parts
        What models learn from and are measured on.
    progress : bool, optional
        Whether to draw a progress bar; by default if stderr is a terminal.

    Returns
    -------
    DataFrame, one row per edition
        Bits per character of the test part, end symbols priced but not counted as characters: ``kneser-ney-6``,
        ``kneser-ney-10``, ``kneser-ney-16``, ``lzma`` and, if pyppmd is installed, ``ppmd``. Compressors go on
        learning from the test part; see `lzma_bits`.

    Raises
    ------
    DataError
        If a text is missing or empty, or too few characters are frequent enough.

    Examples
    --------
    >>> import langdiff as ld
    >>> verses = {"eng": ["the cat sat", "a dog ran"] * 70, "deu": ["die Katze sass", "ein Hund lief"] * 70}
    >>> bible = ld.read_frame(pd.DataFrame(verses))
    >>> baselines = measure_baselines(ld.split(bible), progress=False)
    >>> list(baselines.index), bool((baselines["kneser-ney-6"] < 1).all())
    (['eng', 'deu'], True)
    """
    rows = {}
    with progress_bar(progress=progress) as bar:
        task = bar.add_task("baselines", total=len(parts.train.editions), note="")
        for edition in parts.train.editions:
            bar.update(task, note=edition)
            with naming(edition):
                rows[edition] = _baselines(parts, edition)
            bar.update(task, advance=1)
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("edition")


def _baselines(parts: Parts, edition: str) -> dict[str, float]:
    train, dev, test = (check_texts(part.text(edition), "texts") for part in (parts.train, parts.dev, parts.test))
    rates, characters = {}, int(test.str.len().sum())
    for order in ORDERS:
        recipe = KneserNeyRecipe(name=f"kneser-ney-{order}", order=order)
        model = fit_kneser_ney(recipe, train, dev, TrainingPlan(seed=0, name=edition))
        rates[recipe.name] = float(model.surprisal(test)["bits"].sum()) / characters
    alphabet = model.alphabet
    learned, judged = ([alphabet.apply(text) for text in part] for part in (train, test))
    price = sum(map(alphabet.replaced_bits, test))
    rates["lzma"] = (lzma_bits(learned, judged) + price) / characters
    if find_spec("pyppmd") is not None:
        rates["ppmd"] = (ppmd_bits(learned, judged) + price) / characters
    return rates


def compare_with_baselines(tables: Iterable[Surprisals], baselines: pd.DataFrame) -> pd.DataFrame:
    """Compare the bits of language models with their baselines.

    Parameters
    ----------
    tables : iterable of Surprisals
        Surprisals of the same test part by one or more language models.
    baselines : DataFrame
        Baselines of the editions, as `measure_baselines` returns them.

    Returns
    -------
    DataFrame, one row per edition × language model
        ``edition``, ``lm``, ``bits_per_character``, ``baseline`` (name of the lowest baseline), ``baseline_bits`` (its
        bits per character), and ``percent``, by how much the model is below it: negative where it is above.

    Raises
    ------
    DataError
        If a table has no characters, or an edition has no baselines other than the model itself.

    Warns
    -----
    LangdiffWarning
        If models are above their baselines: they have learned less than n-grams or a compressor.

    Examples
    --------
    >>> bits = pd.DataFrame({"eng": [20.0, 30.0]})
    >>> table = Surprisals(bits=bits, characters=pd.DataFrame({"eng": [10.0, 15.0]}), lm="char-small")
    >>> baselines = pd.DataFrame({"kneser-ney-10": [2.5]}, index=["eng"])
    >>> compare_with_baselines([table], baselines)["percent"].round(1).tolist()
    [20.0]
    """
    rows = []
    for table in tables:
        unknown = [edition for edition in table.editions if edition not in baselines.index]
        if unknown:
            raise DataError(f"{len(unknown)} edition(s) of {table.lm!r} have no baselines: {listing(unknown)}.")
        if table.characters is None:
            raise DataError(f"{table.lm!r}: the table has no numbers of characters, which bits per character need.")
        for edition, rate in table.bits_per_character()["bits_per_character"].items():
            own = baselines.loc[str(edition)].drop(labels=table.lm, errors="ignore").dropna()
            if own.empty:
                raise DataError(f"{table.lm!r} cannot be compared in edition {edition!r}, which has no other baseline.")
            baseline = str(own.idxmin())
            rows.append((edition, table.lm, rate, baseline, own[baseline], 100 * (1 - rate / own[baseline])))
    columns = ["edition", "lm", "bits_per_character", "baseline", "baseline_bits", "percent"]
    found = pd.DataFrame(rows, columns=columns)
    above = found[found["percent"] < 0]
    for lm, of_lm in above.groupby("lm", sort=False):
        count = int((found["lm"] == lm).sum())
        warn(
            f"{lm}: {len(of_lm)} of {count} edition(s) need more bits than a baseline, so that the model has learned "
            f"less than n-grams or a compressor: {listing(of_lm['edition'])}. Train longer, or use a better recipe."
        )
    return found


def lzma_bits(train: Sequence[str], test: Sequence[str]) -> float:
    r"""Return the bits that test texts add to the training texts compressed by LZMA.

    .. math:: 8\,(C(\text{train}\;\text{test}) - C(\text{train}))

    with C the bytes that LZMA at its most thorough makes of the UTF-8 text, each intent ended by a
    line feed. No header, check sum or end mark is counted.

    This is a number of a whole corpus, to be divided by its characters and set beside the total bits
    of a language model. It is not a surprisal of intents: the compressor learns from the test
    texts as it goes, so that their order matters, counts whole bytes, and gives no probabilities. It
    finds long repetitions and little else; a language model that needs more bits
    has learned less than these.

    Parameters
    ----------
    train, test : sequence of str
        Texts to learn from, and texts to measure. To compare with a language model, give them as its alphabet
        has them (`Alphabet.apply`).

    Returns
    -------
    float
        Bits of all test texts, their ends included; 0 if there are none.

    Raises
    ------
    UnicodeEncodeError
        If a text holds half of a surrogate pair, which UTF-8 cannot encode.

    Notes
    -----
    Appending one text to another and compressing both is the measure of Benedetto, Caglioti & Loreto
    (2002), "Language trees and zipping".

    Examples
    --------
    >>> train = ["the cat sat on the mat", "the dog lay on the log"] * 50
    >>> lzma_bits(train, ["the dog lay on the log"]) < lzma_bits(train, ["quick jinxed wyverns fib"])
    True
    """
    return _added_bits(train, test, _lzma_size)


def ppmd_bits(train: Sequence[str], test: Sequence[str]) -> float:
    r"""Return the bits that test texts add to the training texts compressed by PPMd.

    As `lzma_bits`, with prediction by partial matching: contexts of up to 16 bytes, variant I. It comes
    near to character n-grams of the same order, in a second.

    Parameters
    ----------
    train, test : sequence of str
        Texts to learn from, and texts to measure, as for `lzma_bits`.

    Returns
    -------
    float
        Bits of all test texts, their ends included; 0 if there are none.

    Raises
    ------
    MissingExtraError
        If pyppmd is not installed.
    UnicodeEncodeError
        If a text holds half of a surrogate pair, which UTF-8 cannot encode.

    Notes
    -----
    Shkarin (2002), "PPM: one step to practicality"; the code is that of 7-Zip.

    Examples
    --------
    >>> train = ["the cat sat on the mat", "the dog lay on the log"] * 50
    >>> test = ["the dog lay on the log", "the cat sat on the log"]
    >>> ppmd_bits(train, test) < lzma_bits(train, test)
    True
    """
    return _added_bits(train, test, _ppmd_size)


def _added_bits(train: Sequence[str], test: Sequence[str], size: Callable[[bytes, int], int]) -> float:
    before = _encoded(train)
    whole = before + _encoded(test)
    return 8.0 * (size(whole, len(whole)) - size(before, len(whole)))


def _encoded(texts: Sequence[str]) -> bytes:
    return "".join(f"{text}\n" for text in texts).encode()


def _lzma_size(text: bytes, window: int) -> int:
    # pb = 0, as text is not aligned to words of memory; the window sees all of the text
    filters = [
        {
            "id": lzma.FILTER_LZMA1,
            "preset": 9 | lzma.PRESET_EXTREME,
            "dict_size": max(window, 1 << 12),  # the least that LZMA takes
            "pb": 0,
        }
    ]
    return len(lzma.compress(text, format=lzma.FORMAT_RAW, filters=filters))


def _ppmd_size(text: bytes, _window: int) -> int:
    pyppmd = import_extra("pyppmd", "pyppmd is not installed: pip install 'langdiff[ppmd]'.")
    encoder = pyppmd.Ppmd8Encoder(PPMD_ORDER, PPMD_MEMORY)
    return len(encoder.encode(text)) + len(encoder.flush())
