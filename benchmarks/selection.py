"""What `select` takes to prove its optimum, beside OR-tools CP-SAT and one integer program on the same problem.

Presence is read from real Bibles where LANGDIFF_DATA names them, and simulated: at the size of Mielke et al. (2019,
appendix E: 131 candidate editions, 43,904 verse ids) and beyond, in nearly identical families, in blocks, and as noise.
Each measurement is a process of its own, so that peak memory is its own, and that OR-tools and highspy, which both
bring HiGHS, do not meet. Seconds are of processor time, of all threads. `search` begins with the distinct rows of the
presence matrix, as CP-SAT does, whose time includes building its model; `select` is the whole call. CP-SAT needs the
extra `bench`; without it its columns are empty.

    OMP_NUM_THREADS=1 python benchmarks/selection.py
"""

import argparse
import importlib.util
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

import langdiff as ld
from langdiff.tables.multitext import Multitext
from langdiff.tables.text_sources import InMemoryText

OLD, NEW, DEUTEROCANON = 23145, 7957, 5700  # verses; the other ids are numberings of other traditions
VERSES_A_CHAPTER, VERSES_A_BOOK = 26, 470


def simulate_presence(editions, *, intents=43904, new_testament_only=0.0, seed=0):
    """Draw which verse ids Bibles have: canons, numberings, books and chapters not translated, verses merged.

    Returns
    -------
    presence : ndarray of bool, shape (intents, editions)
    languages : ndarray of int, shape (editions,)
    """
    rng = np.random.default_rng(seed)
    part = np.repeat([0, 1, 2, 3], [OLD, NEW, DEUTEROCANON, intents - OLD - NEW - DEUTEROCANON])
    chapter, book = np.arange(intents) // VERSES_A_CHAPTER, np.arange(intents) // VERSES_A_BOOK
    renumbered = rng.random(chapter.max() + 1) < 0.06
    by_whom = rng.integers(1, 4, chapter.max() + 1)  # the tradition that counts a chapter otherwise
    merging = rng.gamma(0.6, 1.0, intents)  # some verses are merged with others more often
    presence = np.zeros((intents, editions), dtype=bool)
    for j in range(editions):
        tradition = rng.choice(4, p=[0.72, 0.12, 0.10, 0.06])
        here = part <= 1
        if tradition and rng.random() < 0.6:
            here |= part == 2
        if rng.random() < new_testament_only:
            here = part == 1
        elif rng.random() < 0.12:
            not_yet = rng.random(book.max() + 1) < rng.uniform(0.02, 0.4)
            here &= ~(not_yet[book] & (part != 1))
        if tradition:
            own = by_whom[chapter] == tradition
            here = (here & ~(renumbered[chapter] & own)) | ((part == 3) & own & here[0])
        merged = rng.random(intents) < np.minimum(10 ** rng.uniform(-4, -1.4) * merging, 1)
        lost = rng.random(chapter.max() + 1) < 10 ** rng.uniform(-4, -1.8)
        presence[:, j] = here & ~merged & ~lost[chapter]
    return presence, np.minimum(rng.geometric(0.012, editions), 400)


def catalogue(presence, languages):
    """Make a multitext without any text: selection does not read it."""
    intents = pd.RangeIndex(len(presence), name="intent")
    editions = pd.Index([f"e{j}" for j in range(presence.shape[1])], name="edition")
    return Multitext(
        presence=pd.DataFrame(presence, index=intents, columns=editions),
        edition_info=pd.DataFrame({"language": [f"l{one}" for one in languages]}, index=editions),
        intent_info=pd.DataFrame(index=intents),
        sources={edition: InMemoryText(pd.Series(dtype=object)) for edition in editions},
    )


def simulate_families(families, editions, intents, *, share, flip, seed=0):
    """Draw families of nearly identical editions: a cell differs from that of its family with probability `flip`."""
    rng = np.random.default_rng(seed)
    presence = np.repeat(rng.random((intents, families)) < share, editions, axis=1)
    return presence ^ (rng.random(presence.shape) < flip), np.repeat(np.arange(families), editions)


def simulate_blocks(editions, intents, *, blocks, seed=0):
    """Draw editions that each have some blocks of intents, less one intent in fifty."""
    rng = np.random.default_rng(seed)
    of_editions = rng.random((blocks, editions)) < rng.uniform(0.3, 0.95, (blocks, 1))
    presence = np.repeat(of_editions, -(-intents // blocks), axis=0)[:intents]
    return presence & (rng.random(presence.shape) < 0.98), np.arange(editions) // 2


def simulated(name):
    """Return presence and languages by the name of a simulation."""
    kind, seed = name.split(":")
    if kind == "noise":
        presence = np.random.default_rng(int(seed)).random((5000, 60)) < 0.5
        return presence, np.arange(60)
    if kind == "families":
        return simulate_families(5, 20, 20000, share=0.5, flip=0.001, seed=int(seed))
    if kind == "looser":
        return simulate_families(5, 20, 20000, share=0.5, flip=0.03, seed=int(seed))
    if kind == "blocks":
        return simulate_blocks(80, 20000, blocks=60, seed=int(seed))
    editions, share = {"paper": (131, 0.0), "thousand": (1000, 0.8), "sixty": (60, 0.0)}[kind]
    return simulate_presence(editions, new_testament_only=share, seed=int(seed))


BIBLES = [
    ("cells", {"min_intents": 20000}),
    ("languages", {"min_intents": 20000}),
    ("cells", {}),
    ("languages", {}),
    ("cells", {"n_editions": 60}),
    ("languages", {"min_intents": 7000, "require": ["cop-copticnt"]}),
    ("cells", {"min_intents": 31000}),
    ("cells", {"min_intents": 20000, "max_editions_per_language": 1}),
]
SIMULATED = [
    *[
        (f"paper:{seed}", objective, {"min_intents": 20000})
        for objective in ("cells", "languages")
        for seed in range(3)
    ],
    ("thousand:0", "cells", {}),
    ("thousand:0", "languages", {}),
    ("families:0", "languages", {}),
    ("looser:0", "languages", {}),
    ("blocks:0", "cells", {}),
    ("blocks:0", "languages", {}),
    ("noise:0", "cells", {}),
    ("sixty:0", "cells", {"min_intents": 20000}),
    ("sixty:0", "languages", {"min_intents": 20000}),
]
DIRECT, REPEATED = ("sixty:0",), 3


def ours(table, objective, settings, limit, repeats):
    """Time the search alone and the whole call; the least of several times."""
    from langdiff.selection.search.exact import Search
    from langdiff.selection.selecting import check_feasible, name_problem

    limits = {name: value for name, value in settings.items() if name != "require"}
    alone, whole = [], []
    for _ in range(repeats):
        named = name_problem(table, objective=objective, require=settings.get("require", ()), **limits)
        started = time.process_time()
        search = Search(named.problem, time_limit=limit)
        if search.best is None:
            search.begin_with(check_feasible(named, None, search.deadline))
        search.run()
        alone.append(time.process_time() - started)
        if repeats > 1 or not whole:
            started = time.process_time()
            selection = ld.select(table, objective=objective, progress=False, time_limit=limit, **settings)
            whole.append(time.process_time() - started)
    closed = ", ".join(f"{name} {count}" for name, count in selection.certificate["closed"].value_counts().items())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    units, intents = selection.value // len(selection.intents), len(selection.intents)
    return [min(alone), min(whole), peak, units, intents, selection.value, selection.upper_bound, closed]


def directly(table, objective, settings, limit):
    started = time.process_time()
    selection = ld.select(table, objective=objective, method="direct", time_limit=limit, progress=False, **settings)
    return [time.process_time() - started, selection.value, selection.upper_bound]


def cp_model_of(problem):
    """Model a problem for CP-SAT: a Boolean per distinct row and edition; the product by CP-SAT's own constraint."""
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    b = [model.new_bool_var("") for _ in problem.language]
    y = [model.new_bool_var("") for _ in problem.weight]
    for k, j in np.argwhere(~problem.present).tolist():
        model.add_implication(y[k], ~b[j])
    intents = model.new_int_var(problem.min_intents, int(problem.weight.sum()), "")
    model.add(intents == cp_model.LinearExpr.weighted_sum(y, problem.weight.tolist()))
    editions = model.new_int_var(1, problem.max_editions, "")
    model.add(editions == sum(b))
    if problem.n_editions:
        model.add(editions == problem.n_editions)
    for j in np.flatnonzero(problem.required):
        model.add(b[j] == 1)
    counted = []
    for language in range(problem.language.max() + 1):
        members = [b[j] for j in np.flatnonzero(problem.language == language)]
        counted.append(model.new_bool_var(""))
        model.add_bool_or([*members, ~counted[-1]])
        if language in problem.required_languages:
            model.add(counted[-1] == 1)
        model.add(sum(members) <= problem.max_per_language)
    product = model.new_int_var(0, len(b) * int(problem.weight.sum()), "")
    model.add_multiplication_equality(product, [sum(counted) if problem.count_languages else editions, intents])
    model.maximize((len(b) + 1) * product + editions)  # ties go to more editions
    return model, product, len(b)


def cp_sat(table, objective, settings, limit, workers, repeats):
    """Time CP-SAT from the distinct rows to its answer; the least of several times."""
    from ortools.sat.python import cp_model  # isort: skip; it cannot be loaded once highspy is

    from langdiff.selection.selecting import name_problem

    limits = {name: value for name, value in settings.items() if name != "require"}
    problem = name_problem(table, objective=objective, require=settings.get("require", ()), **limits).problem
    seconds = []
    for _ in range(repeats):
        started = time.process_time()
        model, product, editions = cp_model_of(problem)
        solver = cp_model.CpSolver()
        solver.parameters.max_time_in_seconds = limit
        solver.parameters.num_workers = workers
        status = solver.solve(model)
        seconds.append(time.process_time() - started)
    value = solver.value(product) if status in (cp_model.OPTIMAL, cp_model.FEASIBLE) else 0
    bound = value if status == cp_model.OPTIMAL else int(solver.best_objective_bound // (editions + 1))
    return [min(seconds), value, bound]


def measure(kind, stored, objective, settings, limit, repeats):
    """Run in this process and print what it took."""
    arrays = np.load(stored)
    table = catalogue(arrays["presence"], arrays["languages"])
    names = dict(zip(arrays["names"].tolist(), table.editions, strict=True))
    if "require" in settings:
        settings["require"] = [names[name] for name in settings["require"]]
    if kind == "ours":
        answer = ours(table, objective, settings, limit, repeats)
    elif kind == "direct":
        answer = directly(table, objective, settings, limit)
    else:
        answer = cp_sat(table, objective, settings, limit, 1 if kind == "one" else 0, repeats)
    print(json.dumps(answer))


def ask(kind, stored, objective, settings, limit, repeats):
    command = [sys.executable, __file__, "--kind", kind, "--stored", str(stored), "--objective", objective]
    command += ["--settings", json.dumps(settings), "--limit", str(limit), "--repeats", str(repeats)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def state(value, bound):
    if not value:
        return "nothing"
    return "proven" if value == bound else f"<= {100 * (bound / value - 1):.2f} % more"


def row(name, stored, objective, settings, limits, repeats, rivals):
    search, select, peak, units, intents, value, bound, closed = ask(
        "ours", stored, objective, settings, limits[0], repeats
    )
    asked = ", ".join(f"{key}={value}" for key, value in settings.items()) or "-"
    shown = f"{units} × {intents:,}"
    print(f"{name:11} {objective:9} {asked:46} {shown:13} {search:8.3f} {select:8.3f} {peak:6.0f}", end=" ", flush=True)
    print(f"{state(value, bound):18}", end=" ", flush=True)
    for kind in rivals:
        seconds, other, most = ask(kind, stored, objective, settings, limits[1], repeats)
        worse = "" if other == value else f", reached {other / value:.1%}"
        print(f"| {kind} {seconds:8.3f} {seconds / search:7.1f} × {state(other, most)}{worse}", end=" ", flush=True)
    print(f"| {closed}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", help="rows of the table whose name begins so")
    parser.add_argument("--limit", type=float, default=600, help="wall seconds of a run of ours")
    parser.add_argument("--rival-limit", type=float, default=120, help="wall seconds of a run of CP-SAT or one program")
    for hidden in ("--kind", "--stored", "--objective", "--settings"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    parser.add_argument("--repeats", type=int, default=1, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.kind:
        settings = json.loads(options.settings)
        measure(options.kind, options.stored, options.objective, settings, options.limit, options.repeats)
        return
    limits = options.limit, options.rival_limit
    rivals = ["one", "default"] if importlib.util.find_spec("ortools") else []
    print("rows, objective, asked, units × intents, search (CPU s), select (CPU s), peak MiB, proof", end="")
    print(" | CP-SAT with one worker | with its default | closed by")
    with tempfile.TemporaryDirectory() as folder:
        stored = Path(folder) / "presence.npz"
        if "LANGDIFF_DATA" in os.environ and "bibles".startswith(options.only or ""):
            bibles = ld.read_multitext(Path(os.environ["LANGDIFF_DATA"]) / "bible")
            languages = pd.factorize(bibles.edition_info["language"])[0]
            names = bibles.editions.to_numpy(dtype=str)
            np.savez(stored, presence=bibles.presence.to_numpy(), languages=languages, names=names)
            for objective, settings in BIBLES:
                row("bibles", stored, objective, settings, limits, REPEATED, rivals)
        for name, objective, settings in SIMULATED:
            if name.startswith(options.only or ""):
                presence, languages = simulated(name)
                np.savez(stored, presence=presence, languages=languages, names=np.arange(presence.shape[1]))
                compared = rivals if not name.startswith("thousand") else []
                also = [*compared, *(["direct"] if name in DIRECT else [])]
                row(name, stored, objective, settings, limits, 1, also)


if __name__ == "__main__":
    main()
