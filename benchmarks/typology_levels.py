"""Level of the F test of categories along Glottolog's tree: share of tables without an effect with p ≤ .05.

Real categories (81A, levels of five languages or more, 33 languages) and the real tree; difficulties are drawn.
`python benchmarks/typology_levels.py DATA [--tables 400]`, DATA being the folder with mielke2019 and glottolog.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from langdiff.typology import read_glottolog
from langdiff.typology.association.comparison import compare_levels, kept_levels
from langdiff.typology.association.relatives import exponential_kernel, great_circle


def main() -> None:
    """Print one row per truth."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--tables", type=int, default=400)
    given = parser.parse_args()
    table = pd.read_csv(given.data / "mielke2019" / "wals_categories.csv").query(
        "in_iso_join == 1 and feature == '81A'"
    )
    order = table.set_index("iso639_3")["value_name"]
    order = order[kept_levels(order, 5)[0]]
    glottolog = read_glottolog(given.data / "glottolog")
    tree = glottolog.covariance(order.index).loc[order.index, order.index].to_numpy()
    places = glottolog.places(order.index)
    km = great_circle(places["latitude"].to_numpy(), places["longitude"].to_numpy())
    near, n, rng = exponential_kernel(km, 1000.0), len(order), np.random.default_rng(0)
    print("| truth | analysis of variance | phylo | phylo+area |\n|---|---:|---:|---:|")
    for name, covariance in (
        ("no kinship", np.eye(n)),
        ("tree .5", 0.5 * tree + 0.5 * np.eye(n)),
        ("tree .9", 0.9 * tree + 0.1 * np.eye(n)),
        ("area .9", 0.9 * near + 0.1 * np.eye(n)),
    ):
        drawn = rng.multivariate_normal(np.zeros(n), covariance, size=given.tables)
        hits = np.zeros(3)
        for y in drawn:
            plain = stats.f_oneway(*(part for _, part in pd.Series(y, order.index).groupby(order))).pvalue
            p = [plain, *(compare_levels(order, y, tree, far)[0].p for far in (None, km))]
            hits += np.array(p) <= 0.05
        print(f"| {name} | " + " | ".join(f"{100 * hit / given.tables:.1f}" for hit in hits) + " |", flush=True)


if __name__ == "__main__":
    main()
