"""F1 of predictions, as training and search need it."""

from collections.abc import Sequence

from langdiff.parallelism.documents import Document
from langdiff.parallelism.scoring import score_parallelisms


def micro_f1(predicted: Sequence[Document], gold: Sequence[Document]) -> dict[str, float]:
    """Return F1 by metric, of all documents together.

    Parameters
    ----------
    predicted, gold : sequence of Document
        The same documents in the same order; their names are not looked at.

    Returns
    -------
    dict from str to float

    Raises
    ------
    DataError
        If there are no documents.
    """
    names = [str(number) for number in range(len(gold))]
    scores = score_parallelisms(
        {"tagger": dict(zip(names, predicted, strict=True))}, dict(zip(names, gold, strict=True))
    )
    frame = scores.to_frame()
    return dict(zip(frame["metric"], frame["f"].astype(float), strict=True))
