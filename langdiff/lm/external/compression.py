"""What a general-purpose compressor makes of a text: a second floor for language models."""

import lzma
from collections.abc import Sequence


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
    before = _encoded(train)
    whole = before + _encoded(test)
    return 8.0 * (_compressed_size(whole, len(whole)) - _compressed_size(before, len(whole)))


def _encoded(texts: Sequence[str]) -> bytes:
    return "".join(f"{text}\n" for text in texts).encode()


def _compressed_size(text: bytes, window: int) -> int:
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
