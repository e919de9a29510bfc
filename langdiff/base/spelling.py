"""The known name that a misspelt one is nearest to."""

from collections.abc import Iterable

MISTAKES = 2  # letters that may be wrong, missing, added or in the other order


def edit_distance(left: str, right: str) -> int:
    """Return the number of letters that are changed, added, left out or swapped with the next (Damerau–Levenshtein).

    No letter is edited twice (optimal string alignment).

    Examples
    --------
    >>> edit_distance("tabel", "table"), edit_distance("scroe", "spread")
    (1, 4)
    """
    before: list[int] = []
    last = list(range(len(right) + 1))
    for row, letter in enumerate(left, start=1):
        now = [row]
        for column, other in enumerate(right, start=1):
            cost = min(last[column] + 1, now[-1] + 1, last[column - 1] + (letter != other))
            if row > 1 and column > 1 and letter == right[column - 2] and left[row - 2] == other:
                cost = min(cost, before[column - 2] + 1)
            now.append(cost)
        before, last = last, now
    return last[-1]


def nearest(name: str, known: Iterable[str], most: int = MISTAKES) -> str | None:
    """Return the known name with the fewest mistakes, of these the first; None if all have more than `most`.

    More mistakes than a third of the letters are another word, but one mistake is always allowed.

    Examples
    --------
    >>> nearest("tabel", ["table", "train"]), nearest("etable", ["fit", "clean"])
    ('table', None)
    """
    most = min(most, max(1, len(name) // 3))
    found = [(edit_distance(name, other), place, other) for place, other in enumerate(known)]
    distance, _, other = min(found, default=(most + 1, 0, ""))
    return other if distance <= most else None
