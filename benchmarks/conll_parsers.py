"""Frozen targets of English with the answers of the parsers of two shared tasks: makes `ld.datasets.conll_parsers`.

    python benchmarks/conll_parsers.py REPOSITORY [DATA] [--out FOLDER]
    python benchmarks/conll_parsers.py --study [FIGURE.svg]

REPOSITORY is a clone (bare will do) of github.com/pkolachi/depparse-conll-data, whose branches hold the outputs of
CoNLL 2017 and 2018; DATA a folder with `pud/en_pud.conllu.gz`, by default LANGDIFF_DATA. Targets of EWT and GUM are
those of `conll_verdicts.tsv`, of PUD those of `mined_gold`. Of 2017 each team has the last run whose file of PUD
exceeds 900 kB, which need not be its official one. Writes targets (positions, verdicts, right or wrong; no text) and
systems (LAS, hash of the output) to FOLDER. LAS of PUD is on the treebank of DATA for both years, of EWT and GUM on
the gold trees of 2018. `--study` needs neither: it prints recall, abilities and what was gained from 2017 to 2018, from
`ld.datasets.conll_parsers`, draws the figure, and prints Cohen's kappa of the two readings of EWT and
the precision of the queries on other text (`query_verdicts.tsv`).
"""

import argparse
import csv
import os
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

import pandas as pd

import langdiff as ld
from langdiff.constructions import evaluate, evaluate_attachment, mined_gold, read_parses
from langdiff.constructions.gold import GoldTargets
from langdiff.constructions.graphs import read_graphs
from langdiff.constructions.target import Target, read_nodes, write_nodes
from langdiff.tables.effects import Effects
from langdiff.tables.influences import Units
from langdiff.tables.rule import shares

HERE = Path(__file__).parent
SMALLEST = 900_000  # bytes of a file of PUD that was written to its end, in 2017
BANKS = ("en_pud", "en_ewt", "en_gum")
GOLD = "00-gold-standard"
TARGET = ["treebank", "sentence", "construction", "type", "polarity", "head", "dependent", "verdict", "reason"]


def git(repository, *arguments):
    return subprocess.run(["git", "-C", repository, *arguments], check=True, capture_output=True).stdout


def outputs(repository, bank):
    """Return year, path and hash of the output of each system for a treebank; the gold trees of 2018 under GOLD."""
    found = {}
    for year in (2017, 2018):
        for line in git(repository, "ls-tree", "-r", "-l", f"conll{year}").decode().splitlines():
            (_, _, blob, size), path = line.split("\t")[0].split(), line.split("\t")[1]
            parts = Path(path).parts
            if parts[-1] != f"{bank}.conllu" or not size.isdigit():
                continue
            if year == 2018 and len(parts) == 3:
                found[parts[1]] = (year, path, blob)
            elif year == 2017 and parts[1].startswith("conll17-ud-test") and int(size) > SMALLEST:
                found[parts[2]] = max(found.get(parts[2], (year, "", "")), (year, path, blob))
    return found


def targets_of(bank, gold, data):
    """Return the gold set of a treebank, and verdict and reason of each target."""
    if bank == "en_pud":
        mined = mined_gold(data / "pud/en_pud.conllu.gz")
        return mined, [("yes", "")] * len(mined.targets)
    words = {graph.item: graph.forms for graph in read_graphs(gold)}
    verdicts, targets = {}, {}
    with (HERE / "conll_verdicts.tsv").open(encoding="utf-8") as stream:
        for row in csv.DictReader((line for line in stream if not line.startswith("#")), delimiter="\t"):
            if row["treebank"] == bank:
                own = as_target(row, words[row["sentence"]])
                targets.setdefault(own.key, own)
                if verdicts.get(own.key, ("no",))[0] == "no":  # one of two candidates with the target may be right
                    verdicts[own.key] = (row["verdict"], row["reason"])
    sentences = {target.item: words[target.item] for target in targets.values()}
    gold_set = GoldTargets(name=bank, origin="vetted", sentences=sentences, targets=tuple(targets.values()))
    return gold_set, list(verdicts.values())


def as_target(row, words):
    heads, dependents = (read_nodes(row[cell])[0] for cell in ("head", "dependent"))
    if any(place >= len(words) for node in (*heads, *dependents) for place in node):
        raise ValueError(f"{row['sentence']}: a position is outside of the sentence.")
    return Target(row["sentence"], row["construction"], row["polarity"] == "1", heads, row["type"], dependents)


def judged(bank, files, data):
    """Return targets with the answers of all parsers, one row each, and LAS of the parsers, in percent."""
    gold, verdicts = targets_of(bank, files[GOLD], data)
    rows = [
        (
            bank,
            t.item,
            t.phenomenon,
            t.column,
            int(t.positive),
            write_nodes(t.heads),
            write_nodes(t.dependents),
            *verdict,
        )
        for t, verdict in zip(gold.targets, verdicts, strict=True)
    ]
    systems = {name: file for name, file in files.items() if name != GOLD}
    trees = data / "pud/en_pud.conllu.gz" if bank == "en_pud" else files[GOLD]
    text = {graph.item: graph.forms for graph in read_graphs(trees)}
    parses = [read_parses(file, "conllu", name=name, items=text) for name, file in systems.items()]
    parses = [
        replace(own, blocks={item: own.blocks[item] for item in gold.sentences if item in own.blocks}) for own in parses
    ]
    answers = evaluate(gold, parses).judgements.query("outcome != 'not expressible'")
    answers = answers.pivot(index="target", columns="parser", values="correct").astype(int)
    las = evaluate_attachment(trees, systems).to_frame().query("metric == 'las'").set_index("parser")["f1"]
    return pd.DataFrame(rows, columns=TARGET).join(answers, how="inner"), (100 * las).round(2)


def best(answers, year, count=5):
    """Return the parsers of a year with the highest LAS."""
    return answers.systems.loc[answers.systems["year"] == year, "las"].nlargest(count).index.tolist()


def shares_of(answers, groups, items):
    """Return the mean recall of groups of parsers on some items, with errors by sentence."""
    cells = answers.successes.loc[items.index]
    sums, sizes = (
        pd.DataFrame({name: getattr(cells[own], what)(axis=1) for name, own in groups.items()})
        .groupby(items["sentence"])
        .sum()
        .astype(float)
        for what in ("sum", "count")
    )
    return Effects.of_ratios(sums, sizes, Units("sentence", sums.index), shares("recall"))


def study(figure):
    """Print the tables of the page, and draw its figure."""
    answers = ld.datasets.conll_parsers()
    groups = {"2017": best(answers, 2017), "2018": best(answers, 2018)}
    rows = []
    for code, items in answers.items.groupby("construction"):
        effects, number = shares_of(answers, groups, items), (len(items), items["sentence"].nunique())
        ends, gain = effects.to_frame(), effects.contrast("2018", "2017")
        ranges = [answers.successes.loc[items.index, own].mean().agg(["min", "max"]) for own in groups.values()]
        each = [
            value
            for year, own in zip(groups, ranges, strict=True)
            for value in (*ends.loc[year, ["recall", "low", "high"]], *own)
        ]
        rows.append((code, *number, *each, gain.estimate, gain.std_error))
    of_year = [f"{name} {year}" for year in groups for name in ("recall", "low", "high", "min", "max")]
    table = pd.DataFrame(rows, columns=["construction", "targets", "sentences", *of_year, "gain", "std_error"])
    table = table.sort_values("targets", ascending=False)
    print(groups, table.round(3).to_string(index=False), sep="\n")
    for bank in BANKS:
        own = ld.datasets.conll_parsers(bank)
        own = own.sel(systems=own.systems.index[own.systems["year"] == 2018].tolist())
        recall = own.successes.groupby(own.items["construction"]).mean().T
        ability = ld.fit_outcomes(own, clusters="sentence").abilities.to_frame()[["ability", "std_error"]]
        shown = own.systems[["las"]].join(own.successes.mean().rename("recall")).join(ability).join(recall)
        print(own, own.items["construction"].value_counts().to_dict(), shown.round(2).to_string(), sep="\n")
    read = pd.read_csv(HERE / "conll_verdicts.tsv", sep="\t", comment="#").drop_duplicates(["treebank", "candidate"])
    both = read.loc[read["second"].notna(), ["verdict", "second"]].eq("yes")
    agreed, (first, second) = (both["verdict"] == both["second"]).mean(), both.mean()
    chance = first * second + (1 - first) * (1 - second)
    other = pd.read_csv(HERE / "query_verdicts.tsv", sep="\t", comment="#")
    right = other["verdict"].eq("yes").groupby(other["construction"]).agg(["sum", "size", "mean"])
    right.loc["all"] = right["sum"].sum(), right["size"].sum(), right["sum"].sum() / right["size"].sum()
    print("precision of queries on other text\n", right.round(3).to_string())
    print(f"second reading: {len(both)} candidates, {agreed:.2f} alike, kappa {(agreed - chance) / (1 - chance):.3f}")
    if figure:
        draw(table[table["sentences"] >= 5], figure)


def draw(table, figure):
    import matplotlib.pyplot as plt

    axes = plt.subplots(figsize=(7, 3.6))[1]
    for shift, (year, colour) in enumerate({"2017": "0.6", "2018": "C0"}.items()):
        middle = table[f"recall {year}"]
        ends = [middle - table[f"low {year}"], table[f"high {year}"] - middle]
        places = [place + 0.24 * shift - 0.12 for place in range(len(table))]
        axes.errorbar(places, middle, ends, fmt="o", color=colour, capsize=2, label=f"five best of {year}")
    names = [f"{row.construction}\n{row.targets}" for row in table.itertuples()]
    axes.set_xticks(range(len(table)), names)
    axes.set(ylabel="recall (95 % by sentence)", ylim=(0, 1.02), xlabel="construction, number of targets")
    axes.legend(frameon=False, loc="lower left")
    axes.spines[["top", "right"]].set_visible(False)
    plt.rcParams["svg.hashsalt"] = "conll"
    axes.figure.savefig(figure, bbox_inches="tight", metadata={"Date": None})


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("repository", type=Path, nargs="?")
    options.add_argument("data", type=Path, nargs="?", default=os.environ.get("LANGDIFF_DATA", "../shared/data"))
    options.add_argument("--out", type=Path, default=HERE.parent / "langdiff" / "datasets")
    options.add_argument("--study", nargs="?", const="", metavar="FIGURE")
    given = options.parse_args()
    if given.study is not None or given.repository is None:
        study(given.study)
        return
    tables, systems = [], []
    with tempfile.TemporaryDirectory() as folder:
        for bank in BANKS:
            found, files = outputs(given.repository, bank), {}
            for name, (_, _, blob) in found.items():
                files[name] = Path(folder) / f"{bank}.{name}.conllu"
                files[name].write_bytes(git(given.repository, "cat-file", "blob", blob))
            table, las = judged(bank, files, Path(given.data))
            tables.append(table)
            systems += [(bank, name, *found[name], las.get(name)) for name in found]
            print(f"{bank}: {len(table):,} targets, {len(files) - 1} systems")
    about = pd.DataFrame(systems, columns=["treebank", "system", "year", "path", "blob", "las"])
    about = about.sort_values(["treebank", "year", "las"], ascending=[True, True, False], kind="stable")
    order = about.loc[about["las"].notna(), "system"].drop_duplicates().sort_values()
    table = pd.concat(tables)[[*TARGET, *order]].astype(dict.fromkeys(order, "Int8"))
    table.to_csv(given.out / "conll_parsers.csv", index=False, lineterminator="\n")
    about.to_csv(given.out / "conll_parsers_systems.csv", index=False, lineterminator="\n")


if __name__ == "__main__":
    main()
