"""Measurements in the package: `testaments`, `three_corpora` and `ntrex10`, from texts that are in step.

    OMP_NUM_THREADS=1 python benchmarks/datasets.py [--study runs/difficulty-study] [--write]

Takes the tables of benchmarks/difficulty_study.py, made where they are missing (ten minutes of one core for n-grams,
fifty for the networks), and measures twenty New Testaments (forty minutes more). All is kept under --study, and an
interrupted run goes on. With --write the files of langdiff/datasets are made anew, else what they would
hold is only counted. Reads the folder LANGDIFF_DATA (../shared/data by default).
"""

import argparse
import tomllib
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from difficulty_study import DATA, SAME_AS, SIZES, compute, corpora
from typology_bibles import NEW_TESTAMENT, in_step

import langdiff as ld
from langdiff.datasets.measurements import CORPORA, NTREX10, TEN, TESTAMENTS, UNIT
from langdiff.errors import LangdiffWarning
from langdiff.experiments.curves import nested_parts
from langdiff.typology import read_glottolog

HERE = Path(__file__).parent
FOLDER = Path(ld.__file__).parent / "datasets"
SPANISH = {"spa-reinavalera1909": "spa-rv1909"}  # its intact copy
NETWORKS = ("char-residual-quick", "bpe-residual-quick")
LEARNERS = ("kneser-ney-6", "ppmd", *NETWORKS)
CREATIVE_COMMONS = "CC BY-SA 4.0"


def testaments(bibles, lm="kneser-ney-6", out=None):  # noqa: PT028 - not a test
    """Return the bits of the verses of the example that all its editions have in step, kept in a folder if given."""
    kept = out and out / f"testaments-{lm}.csv"
    if kept and kept.exists():
        return ld.read_surprisals(kept)
    example = tomllib.loads((HERE.parent / "examples" / "bible-new-testament.toml").read_text(encoding="utf-8"))
    editions = [SPANISH.get(edition, edition) for edition in example["corpus"]["editions"]]
    verses = [verse for verse in bibles.intents if int(verse[:2]) >= NEW_TESTAMENT]
    texts = bibles.sel(intents=verses, editions=editions).dropna().map_text(ld.tokenize)
    made = ld.compute_surprisals(ld.split(texts), lm=lm, seed=0, cache=out and out / "models")
    if kept:
        made.save(kept)
    return made


def studied(out):
    """Return the tables of the study for the languages that are in every corpus, and glottocodes by edition."""
    tables, languages = compute(out, NETWORKS)
    codes = pd.Series(languages)
    corpus = codes.index.str.split(":").str[0]
    everywhere = set.intersection(*(set(codes[corpus == name]) for name in CORPORA))
    kept = codes[codes.isin(everywhere)]
    chosen = {}
    for name, table in tables.items():
        corpus, lm, *_ = name.split("/")
        if corpus in CORPORA and lm in LEARNERS:
            own = [edition for edition in kept.index if edition.startswith(f"{corpus}:")]
            chosen[name] = table[own] if isinstance(table, pd.Series) else table.sel(editions=own)
    return chosen, kept


def outside_study():
    """Return what `ntrex10` has beside the study: 3-grams of its ten languages, and 6-grams of two of them."""
    parts = corpora()["ntrex"].sel(list(TEN))
    some = nested_parts(parts, SIZES["ntrex"], "intents", np.random.default_rng(0))[0][1300]
    made = {}
    for lm, editions in (("kneser-ney-3", TEN), ("kneser-ney-6", ("ita", "vie"))):
        table = ld.compute_surprisals(some.sel(list(editions)), lm=lm, max_replaced=1.0, seed=0)
        frames = {
            name: getattr(table, name).rename(columns=lambda edition: f"ntrex:{edition}")
            for name in ("bits", "characters")
        }
        made[f"{NTREX10}/{lm}/1300"] = ld.Surprisals(**frames, intent_info=table.intent_info, lm=lm)
    return made


def long_of(name, table):
    """Return a table as rows of whole numbers, in the order of editions and intents."""
    if isinstance(table, pd.Series):
        rows = {"edition": table.index, "intent": -1, "bits": table.to_numpy(), "characters": 0}
    else:
        count, editions = len(table.bits), table.bits.columns
        rows = {
            "edition": np.repeat(editions, count),
            "intent": np.tile(np.arange(count), len(editions)),
            "bits": table.bits.to_numpy().T.ravel(),
            "characters": table.characters.to_numpy().T.ravel(),
        }
    frame = pd.DataFrame(rows).assign(table=name)
    frame["bits"] = (UNIT * frame["bits"]).round()
    return frame.astype({"bits": "int32", "characters": "int32", "intent": "int16"})


def editions_of(tables, bibles, codes):
    """Return what is known of each edition."""
    glottolog = read_glottolog(DATA / "glottolog", same_as=SAME_AS)
    rows = []
    names = {
        (name.split("/")[0].removesuffix("10"), edition)
        for name, table in tables.items()
        for edition in columns_of(table)
    }
    for corpus, edition in sorted(names):
        file = edition.split(":")[-1]
        row = {"edition": edition, "corpus": corpus, "title": "NTREX-128" if corpus == "ntrex" else "FLORES-200"}
        row |= {"licence": CREATIVE_COMMONS, "year": 2022}
        language = file.replace("-", "_").split("_")[0]
        if file in bibles.edition_info.index:
            known = bibles.edition_info.loc[file]
            row |= {"title": known["title"], "licence": known["licence"], "year": known["year"]}
            language = known["language"]
        code = codes.get(edition) or glottolog.find([language])[language]
        rows.append(row | {"language": language, "glottocode": code})
    made = pd.DataFrame(rows).set_index("edition").fillna({"year": "not known"})
    return made.assign(family=made["glottocode"].map(glottolog.places(made["glottocode"])["family"]))


def columns_of(table):
    """Return the editions of a table."""
    return table.index if isinstance(table, pd.Series) else table.bits.columns


def intents_of(tables):
    """Return the test intents of each corpus with book and chapter, or document."""
    made = {}
    for name, table in tables.items():
        if not isinstance(table, pd.Series):
            info = table.intent_info if table.intent_info is not None else pd.DataFrame(index=table.bits.index)
            made.setdefault(
                name.split("/")[0].removesuffix("10"), info.reindex(columns=["book", "chapter", "document"])
            )
    return pd.concat(made, names=["corpus", "intent"]).reset_index()


def write_cells(cells):
    """Write the cells of all tables into the package."""
    pq.write_table(
        pa.Table.from_pandas(cells, preserve_index=False).replace_schema_metadata(),
        FOLDER / "measurements.parquet",
        compression="zstd",
        compression_level=19,
        use_dictionary=["table", "edition"],
        column_encoding={"bits": "BYTE_STREAM_SPLIT", "characters": "BYTE_STREAM_SPLIT"},
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--study", type=Path, default=Path("runs/difficulty-study"))
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    options.study.mkdir(parents=True, exist_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangdiffWarning)  # rare characters, spaces
        bibles = in_step()
        tables = {f"{TESTAMENTS}/{lm}/": testaments(bibles, lm, options.study) for lm in LEARNERS if lm != "ppmd"}
        measured, codes = studied(options.study)
        tables |= measured | outside_study()
    cells = pd.concat([long_of(name, table) for name, table in tables.items()], ignore_index=True)
    cells = cells.astype({"table": "category", "edition": "category"})
    editions, intents = editions_of(tables, bibles, codes), intents_of(tables)
    print(f"{len(cells):,} cells in {len(tables)} tables, {len(editions)} editions, {len(intents):,} intents")
    if options.write:
        write_cells(cells)
        editions.to_csv(FOLDER / "measurements_editions.csv")
        intents.to_csv(FOLDER / "measurements_intents.csv", index=False)
        print(f"{sum(path.stat().st_size for path in FOLDER.glob('measurements*')):,} bytes in {FOLDER}")


if __name__ == "__main__":
    main()
