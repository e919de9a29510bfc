"""What general-purpose compressors make of a text: baselines for language models beside n-grams."""

import lzma
from collections.abc import Callable, Sequence

from langdiff.errors import MissingExtraError

PPMD_ORDER = 16  # longer histories change the sixth digit
PPMD_MEMORY = 256 << 20  # bytes; a model that outgrows them begins anew


def lzma_bits(train: Sequence[str], test: Sequence[str]) -> float:
    r"""Return the bits by which test texts lengthen the compressed training texts.

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
    r"""Return the bits by which test texts lengthen the training texts that PPMd has compressed.

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
    try:
        from pyppmd import Ppmd8Encoder
    except ImportError as error:
        raise MissingExtraError("pyppmd is not installed: pip install 'langdiff[ppmd]'.") from error
    encoder = Ppmd8Encoder(PPMD_ORDER, PPMD_MEMORY)
    return len(encoder.encode(text)) + len(encoder.flush())
