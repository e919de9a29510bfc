"""Is the native-translated difference found, with honest errors? Repetitions on drawn surprisals.

A difference of none and of 3 % is planted in every language. Realistic sizes: eight languages with a tenth of
the native intents of Mielke et al. (2019, footnote 24), beside intents from elsewhere, complete or with most
translations missing; and two languages only, as in a bilingual corpus. Run

    OMP_NUM_THREADS=1 python benchmarks/translationese.py
"""

import argparse

import numpy as np
import pandas as pd

import langdiff as ld

DESIGNS = {  # native intents by language, intents from other languages, share of missing translations
    "8 languages": ([326, 165, 128, 108, 89, 69, 66, 59], 400, 0.0),
    "8 languages, 70 % missing": ([326, 165, 128, 108, 89, 69, 66, 59], 400, 0.7),
    "2 languages": ([600, 640], 2800, 0.0),
}
DIFFERENCES = (0.0, float(np.log(1.03)))
ESTIMATORS = {"1": {}, "2": {}, "2, restricted": {"restricted": True}}
NINETY_FIVE = 1.96


def draw(natives, others, missing, difference, model, rng):
    """Return surprisals and origins; native cells are `difference` nats harder than translated ones."""
    drawn = ld.simulate(sum(natives) + others, len(natives), model=model, seed=rng).surprisals
    names = np.array([*drawn.editions, "other"])
    origin = pd.Series(np.repeat(names, [*natives, others]), index=drawn.intents)
    native = origin.to_numpy()[:, None] == drawn.editions.to_numpy()
    bits = (drawn.bits * np.exp(difference * native)).where(native | (rng.random(native.shape) >= missing))
    return ld.Surprisals(bits=bits.dropna(how="all")), origin


def study(design, difference, model, repetitions, **settings):
    """Return error and standard error of every contrast, shapes (repetitions, languages), and of their mean."""
    natives, others, missing = DESIGNS[design]
    rng = np.random.default_rng([2019, round(1e4 * difference)])  # the same tables for every estimator
    errors, std_errors, of_mean = [], [], []
    for _ in range(repetitions):
        surprisals, origin = draw(natives, others, missing, difference, model, rng)
        result = ld.translationese(surprisals, origin, min_native=1, model=model, **settings)
        frame = result.to_frame()
        errors.append(frame["difference"] - difference)
        std_errors.append(frame["std_error"])
        of_mean.append((result.mean.estimate - difference) / result.mean.std_error)
    return np.array(errors), np.array(std_errors), np.array(of_mean)


def line(errors, std_errors, of_mean):
    """Format what is to be seen: bias with its Monte Carlo error, coverage, honesty of the standard errors."""
    means = errors.mean(axis=1)
    return (
        f"{1e4 * means.mean():8.1f} ± {1e4 * means.std(ddof=1) / len(means) ** 0.5:3.1f}"
        f"{(np.abs(errors) < NINETY_FIVE * std_errors).mean():12.1%}"
        f"{(np.abs(of_mean) < NINETY_FIVE).mean():16.1%}"
        f"{np.sqrt((std_errors**2).mean() / errors.var(axis=0, ddof=1).mean()):16.3f}"
        f"{1e4 * std_errors.mean():14.0f}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=200)
    repetitions = parser.parse_args().repetitions
    print(f"{repetitions} repetitions; differences in 0.0001 nats, over all languages")
    head = ["bias", "coverage", "of the mean", "s.e. / s.d.", "s.e."]
    print(f"{'':27}{'model':15}{'planted':>8}{head[0]:>14}{head[1]:>12}{head[2]:>16}{head[3]:>16}{head[4]:>14}")
    for design in DESIGNS:
        for estimator, settings in ESTIMATORS.items():
            for difference in DIFFERENCES:
                found = study(design, difference, estimator[0], repetitions, **settings)
                print(f"{design:27}{estimator:15}{1e4 * difference:8.0f}{line(*found)}", flush=True)


if __name__ == "__main__":
    main()
