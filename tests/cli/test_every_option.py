"""Every option of every command changes what is written, is refused, or only allows what would be an error."""

import ast
import hashlib
import re
import shutil
from functools import cache

import numpy as np
import pandas as pd
import pytest
from typer.main import get_command

import langdiff as ld
from langdiff.cli.app import app
from langdiff.cli.commands import Late
from langdiff.cli.signatures import _locate, _module, signature_of
from tests.cli.test_help_table import commands, type_of

pytestmark = pytest.mark.filterwarnings("ignore")

GOLD = "1 1 S attribution\n2 4 N span\n2 2 N List\n3 3 N List\n4 4 N List\n5 5 S evidence\n"
WORDS = "The:DET:2:det dog:NOUN:3:nsubj ran:VERB:0:root home:ADV:3:advmod .:PUNCT:3:punct"
ALLOWS = {  # options that let pass what is not in these files, or say how the search for the same result goes
    *("--on-error", "--decode-errors", "--trust", "--verify", "--strict", "--pairing", "--repeats"),
    *("--collapse-unary", "--detached", "--alignment", "--progress", "--workers", "--device"),
    *("--method", "--max-iterations", "--time-limit", "--solver", "--seed"),
}
USUAL = {  # values for options whose types do not tell them
    **{"--clusters": "document", "--intent-info": "intents.csv", "--edition-info": "editions.csv", "--unit": "nats"},
    **{"--intent-column": "x", "--edition-column": "x", "--bits-column": "x", "--lm-column": "x", "--by": "family"},
    **{"--contrast": "e1 - e2", "--plot": "OUT.svg", "--out": "OUT.csv", "--n-resamples": "150", "--names": "genus"},
    **{"--baseline": "e1", "--name": "a", "--formula": "size", "--edition-groups": "family", "--strata": "genre"},
    **{"--size-formula": "length", "--predictor": "x", "--given": "y", "--test": "kruskal", "--categorical": "x"},
    **dict.fromkeys(("--item", "--system", "--language", "--metric", "--filter"), "no"),
    **{"--items": "items.csv", "--interaction": "part"},
    **{"--queries": "q.toml", "--sha256": "0"},
    **{"--vref": "q.toml", "--column": "text=x", "--split": "test", "--marker": "untr=char", "--rename": "a=b"},
    **{"--edition": "deu", "--original-language": "q.toml", "--phenomenon": "control", "--require": "deu"},
    **{"--surprisals": "bits.csv", "--report": "OUT.html", "--tokenizer": "a=q.toml"},
    **{"--origins": "intents.csv", "--outcomes": "OUT.csv", "--classes": "rst-dt", "--codes": "fit.json"},
    **{"--feature": "26A", "--glottolog": "texts", "--unmatched": "OUT.txt", "--pilot": "fit.json", "--noise": "0.2"},
    **{"--share": "test=0.5", "--dispersion": "edition", "--chance": "0.4", "--tree": "q.toml"},
    **{"--paper": "xmi2020", "--model": "1", "--lm": "kneser-ney-2", "--groups": "document", "--scoring": "unpriced"},
    **{"--corpus": "nt", "--per-document": "8", "--icc": "0.1", "--per-phenomenon": "3", "--laplace-scale": "2"},
}
LINES = [  # an explicit value that is the usual one changes nothing, and is named behind
    "compare-models bits.csv",
    "fit bits.csv / --errors",
    "fit bits.csv --json / --errors",
    "table fit.json fit2.json / --scale",
    "table bits.csv / --scale",
    "correlate fit.json pred.csv",
    "reliability bits.csv",
    "plan 5 --noise 0.3",
    "outcomes fit cells.csv / --errors --items",
    "constructions attachment gold.conllu --parser one=one.conllu --parser two=gold.conllu",
    "constructions mine gold.conllu",
    "corpora fetch",
    "corpora describe texts --format moses",
    "plot sizes texts --format moses --out OUT.svg",
    "plot result fit.json --out OUT.svg / --kind",
    "parity bits.csv --reference e1",
    pytest.param("reproduce", marks=pytest.mark.slow),
    "treebanks measures gold.conllu one.conllu",
    "discourse evaluate g p=p",
    "parallelism ranks scores.csv",
    "parallelism ranks",
    "predictors texts --format moses",
]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("options")
    rng = np.random.default_rng(0)
    for name, seed in (("fit", 1), ("fit2", 2)):
        table = ld.simulate(120, 6, seed=seed).surprisals
        ld.fit(table, model=str(seed)).save(folder / f"{name}.json")
    ld.simulate(120, 6, seed=1).surprisals.save(folder / "bits.csv")
    names = table.editions
    frames = {
        "editions": {"edition": names, "family": list("ABABAB"), "size": rng.normal(size=6), "genus": list("abcdef")},
        "intents": {"intent": table.intents, "document": [f"d{k // 5}" for k in range(120)]},
        "pred": {"edition": names, "x": [1, 5, 3, 2, 8, 6], "y": [2, 1, 4, 3, 9, 5]},
        "scores": {"model": list("abc"), "a": [1, 1, 2], "b": [2, 3, 3], "c": [3, 2, 1]},
        "cells": {
            "item": [f"i{k // 3}" for k in range(120)],
            "system": list("abc") * 40,
            "successes": [0, 1, 1, 0] * 30,
        },
        "items": {"item": [f"i{k}" for k in range(40)], "part": list("ab") * 20},
    }
    frames["intents"] |= {"genre": ["g", "h", "i"] * 40, "length": range(10, 130)}
    for name, columns in frames.items():
        pd.DataFrame(columns).to_csv(folder / f"{name}.csv", index=False)
    for name in ("texts", "g", "p"):
        (folder / name).mkdir()
    for name in ("deu", "eng", "fra"):
        lines = (" ".join(rng.choice(["ein", "Hund,", "lief", "weg", "und", "nie."], 6)) for _ in range(60))
        (folder / "texts" / f"{name}.txt").write_text("\n".join(lines) + "\n")
    for name, head in (("gold", 3), ("one", 2)):
        rows = [word.split(":") for word in WORDS.split()]
        rows[3][2] = str(head)
        text = "".join(f"{k}\t{f}\t{f}\t{p}\t_\t_\t{h}\t{r}\t_\t_\n" for k, (f, p, h, r) in enumerate(rows, 1))
        (folder / f"{name}.conllu").write_text("".join(f"# sent_id = {k}\n{text}\n" for k in range(9)))
    (folder / "g" / "a.spans").write_text(GOLD)
    (folder / "p" / "a.spans").write_text(GOLD.replace("evidence", "cause"))
    (folder / "q.toml").write_text("")
    return folder


@cache
def all_commands():
    return {words.removeprefix("langdiff "): one for words, one in commands(get_command(app)) if isinstance(one, Late)}


def values(name, option):
    """Return values for an option that differ from the usual one; None for a switch."""
    kind = type_of(option)
    if name in USUAL:
        return [USUAL[name]]
    if kind.startswith("one of "):
        return [each for each in kind[7:].split(", ") if each != option.default][:2]
    number = {"int": lambda: (option.default or 1) + 2, "float": lambda: (option.default or 0.5) * 0.7}
    return [None] if kind == "bool" else [str(make()) for key, make in number.items() if kind.startswith(key)]


@pytest.mark.parametrize("line", LINES)
def test_no_option_is_passed_over_in_silence(langdiff, files, monkeypatch, line):
    monkeypatch.chdir(files)
    monkeypatch.setattr("langdiff.cli.commands._origin", lambda _: ({}, []))  # manifests name options, used or not
    line, _, usual = line.partition(" / ")

    def run(*words):
        done = langdiff(*words)
        assert done.code in (0, 1, 2), done.err
        written = ""
        for path in sorted(files.rglob("OUT*")):
            written += path.name + hashlib.sha256(path.read_bytes() if path.is_file() else b"").hexdigest()
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        return done.code, re.sub(r".*\d s\b.*", "", done.out + done.err), written

    before = run(*line.split())
    assert before[0] == 0, before[1]
    command = next(one for words, one in all_commands().items() if f"{line} ".startswith(f"{words} "))
    silent = set()
    for option in command.params:
        name = next((each for each in option.opts if each.startswith("--")), None)
        if name is not None and name not in ALLOWS and f" {name} " not in f" {line} ":
            written = option.secondary_opts[0] if option.default is True and option.secondary_opts else name
            for value in values(name, option):
                if run(*line.split(), written, *([] if value is None else [value])) == before:
                    silent.add(name)
    assert silent == set(usual.split())


def test_every_option_is_read_by_the_command_or_its_function():
    unread = []
    for words, command in all_commands().items():
        own = command.callback.command
        for function in (own.function, *own.settings) if own.function else own.settings:
            module, name = _locate(function)
            node = _module(module).find(name)[1]
            if isinstance(node, ast.FunctionDef):
                read = {
                    each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)
                }
                unread += [(words, each) for each in signature_of(function).parameters if each not in read]
    assert unread == []
