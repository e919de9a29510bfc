"""What an edition left whole does to the native - translated difference of another language.

Draws tables (`ld.simulate`, Model 2, 300 intents per language, each language the original of a part of them), makes
native texts longer, and compares native with translated e2, with e2 alone divided and with all. Some minutes:

    OMP_NUM_THREADS=1 python benchmarks/left_whole.py
"""

import warnings

import numpy as np
import pandas as pd

import langdiff as ld
from langdiff.errors import LangdiffWarning

DRAWS = 200
LONGER = {
    "native e1 20 % longer": lambda languages: [np.log(1.2)] + [0.0] * (languages - 1),
    "all native texts 3 % longer": lambda languages: [np.log(1.03)] * languages,
}


def draw(longer, seed):
    rng = np.random.default_rng(seed)
    surprisals = ld.simulate(300 * len(longer), len(longer), model="2", seed=rng).surprisals
    origin = pd.Series(rng.choice(surprisals.editions, len(surprisals.intents)), index=surprisals.intents)
    native = np.array([origin == edition for edition in surprisals.editions]).T
    return ld.Surprisals(bits=surprisals.bits * np.exp(np.array(longer) * native), lm="simulated"), origin


def main():
    for what, longer_of in LONGER.items():
        for languages in (3, 8):
            longer = longer_of(languages)
            found = {"e2 alone divided": [], "all divided": []}
            for seed in range(DRAWS):
                table, origin = draw(longer, seed)
                for how, chosen in zip(found, (["e2"], None), strict=True):
                    result = ld.translationese(table, origin, languages=chosen, min_native=1)
                    found[how].append(result.to_frame().loc["e2"])
            for how, rows in found.items():
                frame = pd.DataFrame(rows)
                difference = frame["difference"].astype(float)
                held = ((frame["low"] <= longer[1]) & (longer[1] <= frame["high"])).mean()
                print(
                    f"{languages} languages, {what}, {how}: planted {longer[1]:.4f}, found {difference.mean():.4f} "
                    f"± {difference.std() / DRAWS**0.5:.4f}, standard error {frame['std_error'].mean():.4f}, "
                    f"coverage {100 * held:.1f} %",
                    flush=True,
                )


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangdiffWarning)  # that editions are left whole is the point
        main()
