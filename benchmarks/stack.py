"""Time and memory of fitting several systems together, beside the same table as plain editions.

    python benchmarks/stack.py [--systems 10] [--languages 200] [--intents 2000] [--missing 0.1] [--model 1] [--plain]

With --plain the editions `language@system` are fitted as those of one language model, which needs matrices of columns ×
columns. Prints CPU seconds of the fit and of what is asked of it, and the peak memory of the process; memory before the
fit is that of drawing and stacking the tables.
"""

import argparse
import resource
import time

import numpy as np
import pandas as pd

import langdiff as ld


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # MB


def draw(options):
    """Return tables of systems that scored the same translations."""
    rng = np.random.default_rng(options.seed)
    size, languages = rng.normal(5, 0.6, (options.intents, 1)), rng.normal(0, 0.1, options.languages)
    translation = rng.normal(0, 0.08, (options.intents, options.languages))
    names = [f"i{i}" for i in range(options.intents)], [f"l{j}" for j in range(options.languages)]
    tables = {}
    for m in range(options.systems):
        z = size + languages + rng.normal(0, 0.02, options.languages) + translation
        bits = np.exp(z + rng.normal(0, 0.06, z.shape))
        bits[rng.random(bits.shape) < options.missing] = np.nan
        tables[f"m{m}"] = ld.Surprisals(bits=pd.DataFrame(bits, *names))
    return ld.stack(tables)


def timed(what, call):
    start = time.process_time()
    found = call()
    print(f"{what}: {time.process_time() - start:.2f} CPU s, peak {peak():.0f} MB", flush=True)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in (("systems", 10), ("languages", 200), ("intents", 2000), ("seed", 0)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--missing", type=float, default=0.0)
    parser.add_argument("--model", default="1")
    parser.add_argument("--plain", action="store_true")
    options = parser.parse_args()
    ld.fit(ld.simulate(60, 3, seed=1).surprisals)  # imports
    table = timed("tables", lambda: draw(options))
    if options.plain:
        table = ld.Surprisals(bits=table.bits)
    fit = timed("fit", lambda: ld.fit(table, model=options.model, dispersion="common", clusters=None))
    if not options.plain:
        timed("means of languages and systems", lambda: (fit.two_way.languages, fit.two_way.leaderboard()))
        if len(table.editions) <= 2000:
            timed("flags", fit.two_way.flags)


if __name__ == "__main__":
    main()
