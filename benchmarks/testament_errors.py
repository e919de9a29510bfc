"""Standard errors of real New Testaments: from the information, and by verse, chapter and book.

    OMP_NUM_THREADS=1 python benchmarks/testament_errors.py [--editions 7]

Trains 6-grams on Bibles (folder LANGDIFF_DATA, ../shared/data by default), scores the verses of the New Testament
that were kept for testing, and fits model 2. Printed are ratios of standard errors of the differences to the first
edition: root mean square and range, the degrees of freedom, and the design effect. A second table has model 1.
"""

import argparse
import os
import warnings
from pathlib import Path

import numpy as np

import langdiff as ld
from langdiff.errors import LangdiffWarning

DATA = Path(os.environ.get("LANGDIFF_DATA", "../shared/data"))
LANGUAGES = ("eng", "deu", "fra", "spa", "fin", "ces", "rus", "hun", "tur", "vie", "kor", "por", "ita", "nld")
FIRST = "40001001"  # Matthew 1:1


def testaments(count: int) -> ld.Multitext:
    """Return complete New Testaments, one edition per language, in the order of LANGUAGES as far as there are any."""
    bibles = ld.read_multitext(DATA / "bible", edition_info=DATA / "bible" / "metadata.csv").between(first=FIRST)
    verses = bibles.presence.sum()
    whole = verses.index[verses > 0.95 * len(bibles.intents)]
    language = bibles.edition_info["language"]
    wanted = [*LANGUAGES, *sorted(set(language[whole]) - set(LANGUAGES))]
    chosen = [next((e for e in whole if language[e] == code), None) for code in wanted]
    return bibles.sel(editions=[e for e in chosen if e][:count]).map_text(ld.tokenize).dropna()


def table(surprisals: ld.Surprisals, model: str) -> list[str]:
    """Return the lines of a Markdown table for one model."""
    first, *others = surprisals.editions
    lines = [
        f"| model {model}: errors by | clusters | ratio to the information, root mean square (range) | t(ν), ν "
        "| design effect |",
        "|---|---:|---|---:|---:|",
    ]

    def errors(fit):
        found = [fit.contrast(other, first) for other in others]
        return np.array([c.std_error for c in found]), min(c.degrees_of_freedom for c in found)

    plain, _ = errors(ld.fit(surprisals, model=model, errors="information", clusters=None, dispersion="common"))
    for clusters in (None, "chapter", "book"):
        fit = ld.fit(surprisals, model=model, errors="sandwich", clusters=clusters, dispersion="common")
        found, freedom = errors(fit)
        ratio = found / plain
        lines.append(
            f"| {clusters or 'verse'} | {fit.errors.n_clusters:,} | {np.sqrt(np.mean(ratio**2)):.2f} "
            f"({ratio.min():.2f}–{ratio.max():.2f}) | {freedom:.1f} "
            f"| {f'{fit.errors.design_effect:.2f}' if clusters else ''} |"
        )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--editions", type=int, default=7)
    options = parser.parse_args()
    if not (DATA / "bible").is_dir():
        print(f"no real data: {DATA / 'bible'} does not exist (set LANGDIFF_DATA)")
        return
    multitext = testaments(options.editions)
    parts = ld.split(multitext)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangdiffWarning)  # rare characters outside the alphabet
        surprisals = ld.compute_surprisals(parts, lm="kneser-ney-6", seed=0, progress=False)
        print(f"{', '.join(multitext.editions)}: {len(surprisals.intents):,} verses that 6-grams had not seen\n")
        for model in ("2", "1"):
            print("\n".join(table(surprisals, model)), end="\n\n")


if __name__ == "__main__":
    main()
