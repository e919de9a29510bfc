"""Variance components with missing cells and flags of outliers, in simulated tables whose truth is known.

OMP_NUM_THREADS=1 python benchmarks/components.py intents --tables 400   # number of intents for G = .95
OMP_NUM_THREADS=1 python benchmarks/components.py cells --tables 40      # tables with a flag; false ones, power
"""

import argparse

import numpy as np
import pandas as pd

import langdiff as ld
from langdiff.regression.components import reliability

SIZE = 0.6  # s.d. of ln sizes of intents
EDITION, NOISE = 0.08, 0.14  # s.d. of difficulties, and of a cell, nats
OF_LM = 0.05  # s.d. of what one language model adds to a cell
EXCHANGED = 0.02  # share of the cells of an edition that are exchanged


def table(z, present=None):
    bits = np.exp(z) if present is None else np.where(present, np.exp(z), np.nan)
    return ld.Surprisals(bits=pd.DataFrame(bits, columns=[f"e{j}" for j in range(z.shape[1])]).rename(index=str))


def missing(kind, size, book, editions, rng):
    """Return which cells are present."""
    draw, x = rng.random((len(size), editions)), (size - size.mean())[:, None] / size.std()
    if kind == "30 % at random":
        return draw > 0.3
    if kind == "by size, one rate":
        return draw > 1 / (1 + np.exp(1.6 - 2 * x))
    if kind == "by size, at rates that differ by edition":
        return draw > 1 / (1 + np.exp(1.6 - rng.uniform(0, 3, editions) * x))
    if kind == "whole books":
        return (rng.random((book.max() + 1, editions)) > rng.uniform(0, 0.7, editions))[book]
    return draw >= 0


def intents(tables):
    """Print the variance of editions and the number of intents for G = .95, 200 intents × 15 editions, 20 books."""
    reliability.MOST_GROUPS = 2  # errors of the shares are not looked at
    enough = 19 * NOISE**2 / EDITION**2
    print(f"truth: edition {EDITION**2:.4f}, residual {NOISE**2:.4f}, {enough:.1f} intents for G = .95")
    kinds = [
        "complete",
        "30 % at random",
        "by size, one rate",
        "by size, at rates that differ by edition",
        "whole books",
    ]
    for kind in kinds:
        rows = []
        for number in range(tables):
            rng, book = np.random.default_rng([41, number]), np.arange(200) // 10
            size = rng.normal(0, SIZE / 2, 20)[book] + rng.normal(0, SIZE * np.sqrt(0.75), 200)
            z = 5 + size[:, None] + rng.normal(0, EDITION, 15) + rng.normal(0, NOISE, (200, 15))
            found = ld.generalizability(table(z, missing(kind, size, book, 15, rng)))
            rows.append([*found.frame["variance"][["edition", "intent", "residual"]], found.intents_for(0.95).estimate])
        values = np.array(rows)
        low, middle, high = np.quantile(values[:, 3], [0.025, 0.5, 0.975])
        edition, intent, residual, _ = values.mean(axis=0)
        print(
            f"{kind:41s} edition {edition:.4f} ({values[:, 0].std():.4f}), intent {intent:.3f}, "
            f"residual {residual:.4f}; intents: median {middle:.0f}, 95 % from {low:.0f} to {high:.0f}"
        )


def noise(kind, size, editions, rng):
    shape = (len(size), editions)
    if kind == "t with 5 degrees of freedom":
        return NOISE * rng.standard_t(5, shape) / np.sqrt(5 / 3)
    if kind == "variance as 1/size":
        return NOISE * np.exp(-size / 2)[:, None] * rng.normal(size=shape)
    if kind == "unequal editions":
        return NOISE * np.exp(rng.uniform(-0.7, 0.7, editions)) * rng.normal(size=shape)
    return NOISE * rng.normal(size=shape)


def cells(tables):
    """Print how many tables of 300 intents have a flag, and false discovery rate and power with cells exchanged."""
    for editions in (10, 20, 40):
        for kind in (
            "normal",
            "variance as 1/size",
            "unequal editions",
            "t with 5 degrees of freedom",
            "2 % exchanged",
        ):
            flags, false, found = [], [], []
            for number in range(tables):
                rng = np.random.default_rng([43, number])
                size = rng.normal(0, SIZE, 300)
                z = 5 + size[:, None] + rng.normal(0, EDITION, editions) + noise(kind, size, editions, rng)
                exchanged = np.zeros(z.shape, dtype=bool)
                for j in range(editions if kind == "2 % exchanged" else 0):
                    rows = rng.permutation(300)[: round(EXCHANGED * 300)]
                    z[rows, j], exchanged[rows, j] = z[np.roll(rows, 1), j], True
                result = ld.flag_outliers({name: table(z + rng.normal(0, OF_LM, z.shape)) for name in "ab"})
                result = result[result["flagged"]]
                right = exchanged[result["intent"].astype(int), result["edition"].str[1:].astype(int)]
                flags.append(len(result) > 0)
                false.append((~right).sum() / max(len(right), 1))
                found.append(right.sum() / max(exchanged.sum(), 1))
            print(
                f"{editions} editions, {kind:28s} tables with a flag {np.mean(flags):.2f}, "
                f"false discovery rate {np.mean(false):.3f}, power {np.mean(found):.2f}",
                flush=True,
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("intents", "cells"))
    parser.add_argument("--tables", type=int, default=40)
    options = parser.parse_args()
    {"intents": intents, "cells": cells}[options.part](options.tables)


if __name__ == "__main__":
    main()
