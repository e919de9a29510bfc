"""Difficulty belongs to texts before it belongs to languages: the Edition Atlas, and the tables of the page about it.

    OMP_NUM_THREADS=1 python benchmarks/edition_atlas.py            # shares, agreement, pairs: a minute
    OMP_NUM_THREADS=1 python benchmarks/edition_atlas.py --check    # 6-gram bits from texts: three minutes
    OMP_NUM_THREADS=1 python benchmarks/edition_atlas.py --write [--networks] [--out runs/edition-atlas]

Prints what the page says from the bits that the package ships. With --check the bits of the editions whose texts
are given are measured again; with --write the files of langdiff/datasets are made anew, with --networks also the bits
of networks (20 s per edition, kept under --out). Both read the folder LANGDIFF_DATA (../shared/data by default).
"""

import argparse
import time
import warnings
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from datasets import FOLDER, long_of
from difficulty_study import BY_HAND, DATA, SAME_AS, SIZES, parts_of_pud
from typology_bibles import NEW_TESTAMENT

import langdiff as ld
from langdiff.corpora import edition_marks, same_as
from langdiff.corpora.edition_info import representative
from langdiff.errors import LangdiffWarning
from langdiff.experiments.curves import nested_parts
from langdiff.typology import read_glottolog

LM, NETWORK = "kneser-ney-6", "char-residual-quick"
INTACT = {"spa-reinavalera1909": "spa-rv1909"}
PER_LANGUAGE, DEV = 1, 300  # editions that networks learn from; verses that tell when they have learnt
ENGLISH = ("eng-bbe", "eng-asv", "eng-kjv", "eng-web")
KEPT = [
    "corpus", "name", "language", "glottocode", "family", "title", "year", "licence", "source", "verses", "text",
    "script", "marked", "representative", "nats",
]  # fmt: skip


def testaments():
    """Return the New Testaments whose texts are given, and what is known of these and of those without text."""
    bits = pd.read_parquet(DATA / "editions" / "bits.parquet").astype({"edition": str, "verse": str})
    more = pd.read_csv(DATA / "editions" / "metadata.csv", dtype=str).set_index("edition")
    older = pd.read_csv(DATA / "bible" / "metadata.csv", dtype=str)
    older = older.set_index(older["file"].str.removesuffix(".txt.gz")).rename(index=INTACT)
    older = older[older.index.isin(bits["edition"])].assign(given="text and numbers")
    info = pd.concat([more, older]).loc[bits["edition"].unique()].fillna("")
    info["text"] = np.where(info["given"].str.startswith("text"), "yes", "no")
    info = info.rename(columns={"language": "name", "iso639_3": "language", "source_repo": "source"})
    paths = [path for folder in ("editions", "bible", "bible_intact") for path in (DATA / folder).glob("*.txt.gz")]
    known = set(info.index[info["text"] == "yes"])
    files = sorted((p for p in paths if p.name.removesuffix(".txt.gz") in known), key=lambda p: p.name)
    texts = ld.read_multitext(files, format="pbc", edition_info=info[["language"]])
    verses = [verse for verse in texts.intents if int(verse[:2]) >= NEW_TESTAMENT]
    texts = texts.sel(intents=verses).map_text(ld.tokenize)
    info["verses"] = texts.presence.sum().reindex(info.index).fillna(pd.to_numeric(info["verses"])).astype(int)
    return texts, info, bits


def parts_of(texts, editions, size):
    """Return the verses of the atlas, with others to tune networks on."""
    verses = pd.read_csv(DATA / "editions" / "verses.csv", dtype=str)
    of = {part: list(own) for part, own in verses.groupby("part")["verse"]}
    some = texts.sel(editions=editions)
    whole = some.dropna().intents.difference([*of["train1300"], *of["test"]])
    dev = whole[np.random.default_rng(0).permutation(len(whole))[:DEV]].sort_values()
    names = {"train": of[f"train{size}"], "dev": list(dev), "test": of["test"]}
    return ld.Parts(**{part: some.sel(intents=intents) for part, intents in names.items()})


def described(info, bits, texts):
    """Return what is known of the New Testaments, with marks, and ln bits of each beside those of all."""
    own = bits[bits["size"] == SIZES["nt"][1]]
    characters = own.pivot(index="verse", columns="edition", values="characters")
    languages = info["language"].replace({"cmn": "zho"}).to_dict()
    raw = texts.sel(intents=list(characters.index))
    found = edition_marks(raw, languages=languages, characters=characters)
    told = info["marked"].where(info["text"] == "no", "")
    info = info.assign(
        marked=found["marked"].reindex(info.index).fillna(told), script=found["script"].reindex(info.index).fillna("")
    )
    for edition, mark in BY_HAND.items():
        info.loc[edition, "marked"] = f"{info.at[edition, 'marked']} {mark}".strip()
    wide = own.pivot(index="verse", columns="edition", values="bits") / 100
    assert not len(same_as(ld.Surprisals(bits=wide, lm=LM))), "there are copies"
    nats = np.log(wide).mean()
    return info.assign(nats=(nats - nats.mean()).round(6))


def pud():
    """Return the tables of the parallel treebanks, and the original language of their test sentences."""
    parts = parts_of_pud()
    cuts, _ = nested_parts(parts, SIZES["pud"], "intents", np.random.default_rng(0))
    made = {size: ld.compute_surprisals(some, lm=LM, max_replaced=1.0, seed=0) for size, some in cuts.items()}
    original = pd.read_csv(DATA / "pud" / "segments.tsv", sep="\t", index_col="sent_id")["original_language"]
    return {f"pud/{LM}/{size}": named(table, "pud") for size, table in made.items()}, original


def named(table, corpus):
    """Return a table whose editions are named after their corpus."""
    frames = {
        name: getattr(table, name).rename(columns=lambda edition: f"{corpus}:{edition}")
        for name in ("bits", "characters")
    }
    return ld.Surprisals(**frames, lm=table.lm)


def networks(texts, info, out):
    """Return the bits of networks for some editions of each language, and train those that were not kept."""
    rows = info[(info["text"] == "yes") & (info["marked"] == "")].assign(first=lambda d: ~d["representative"])
    rows = rows.sort_values("first", kind="stable").groupby("glottocode").head(PER_LANGUAGE)
    tables = []
    for edition in rows.sort_values("first", kind="stable").index:
        path = out / f"{edition}-{NETWORK}.csv"
        if not path.exists():
            ld.compute_surprisals(parts_of(texts, [edition], 1300), lm=NETWORK, max_replaced=1.0, seed=0).save(path)
            print(path.stem, flush=True)
        tables.append(ld.read_surprisals(path))
    frames = {name: pd.concat([getattr(t, name) for t in tables], axis=1) for name in ("bits", "characters")}
    return ld.Surprisals(**frames, lm=NETWORK)


def write(out, *, with_networks):
    """Write the files of the package."""
    texts, info, bits = testaments()
    glottolog = read_glottolog(DATA / "glottolog", same_as=SAME_AS)
    info = described(info, bits, texts).assign(corpus="nt")
    info["glottocode"] = info["language"].map(glottolog.find(info["language"].unique()))
    info["representative"] = representative(info)
    tables = {}
    for size, own in bits.groupby("size"):
        wide = {column: own.pivot(index="verse", columns="edition", values=column) for column in ("bits", "characters")}
        table = ld.Surprisals(bits=wide["bits"] / 100, characters=wide["characters"].astype(float), lm=LM)
        tables[f"nt/{LM}/{size}"] = named(table, "nt")
    if with_networks:
        out.mkdir(parents=True, exist_ok=True)
        tables[f"nt/{NETWORK}/1300"] = named(networks(texts, info, out), "nt")
    treebanks, original = pud()
    tables |= treebanks
    intents = {"nt": pd.DataFrame(index=tables[f"nt/{LM}/325"].bits.index)}
    intents["nt"] = intents["nt"].assign(book=lambda d: d.index.str[:2], chapter=lambda d: d.index.str[:5])
    index = next(iter(treebanks.values())).bits.index
    intents["pud"] = pd.DataFrame({"original": original.reindex(index)})
    pd.concat(intents, names=["corpus", "intent"]).to_csv(FOLDER / "atlas_intents.csv")
    editions = (
        pd.concat([info.rename(index="nt:{}".format), others(tables, glottolog)])
        .astype(object)
        .fillna("")
        .rename_axis("edition")
    )
    editions["family"] = editions["glottocode"].map(glottolog.places(editions["glottocode"].unique())["family"])
    editions.replace({"year": {"": "not known"}})[KEPT].to_csv(FOLDER / "atlas_editions.csv")
    cells = pd.concat([long_of(name, table) for name, table in tables.items()], ignore_index=True)
    pq.write_table(
        pa.Table.from_pandas(
            cells.astype({"table": "category", "edition": "category"}), preserve_index=False
        ).replace_schema_metadata(),
        FOLDER / "atlas.parquet",
        compression="zstd",
        compression_level=19,
        use_dictionary=["table", "edition"],
        column_encoding={"bits": "BYTE_STREAM_SPLIT", "characters": "BYTE_STREAM_SPLIT"},
    )
    print(f"{sum(path.stat().st_size for path in FOLDER.glob('atlas*')):,} bytes, {len(cells):,} cells")


def others(tables, glottolog):
    """Return what is known of the editions of other corpora; each is the one of its language."""
    shipped = ld.datasets.three_corpora().editions
    rows = shipped[shipped["corpus"] != "nt"]
    goldfish = ld.datasets.goldfish2024().figures
    own = goldfish.index[(goldfish["goldfish_used"] == goldfish.index) & goldfish["goldfish_1000mb"].notna()]
    codes = [f"flores200:{code[:4]}{code[4:].title()}" for code in own]
    added = pd.DataFrame(
        {"corpus": "flores200", "title": "FLORES-200", "licence": "CC BY-SA 4.0", "year": "2022"}, codes
    )
    treebanks = pd.DataFrame({"corpus": "pud", "title": "Parallel Universal Dependencies", "licence": "CC BY-SA 4.0"},
                             list(tables[f"pud/{LM}/325"].editions))  # fmt: skip
    rows = pd.concat([rows, added.loc[added.index.difference(rows.index)], treebanks.assign(year="2017")])
    iso = parts_of_pud().train.edition_info["language"].rename("pud:{}".format)
    language = rows["language"].fillna(iso).fillna(rows.index.to_series().str.partition(":")[2].str[:3])
    code = language.map(glottolog.find(language.unique()))
    return rows.assign(
        language=language, glottocode=rows["glottocode"].fillna(code), marked="", representative=True, text="yes",
        name=rows["glottocode"].fillna(code).map(glottolog.places(code.dropna().unique())["name"]),
    )  # fmt: skip


def check():
    """Print how far bits measured again are from those of the atlas, in total."""
    texts, info, bits = testaments()
    editions = list(info.index[info["text"] == "yes"])
    start, furthest = time.process_time(), {}
    for size in SIZES["nt"]:
        made = ld.compute_surprisals(parts_of(texts, editions, size), lm=LM, max_replaced=1.0, seed=0).bits.sum()
        given = bits[bits["size"] == size].groupby("edition")["bits"].sum() / 100
        furthest[size] = float((made / given[made.index] - 1).abs().max())
    seconds = time.process_time() - start
    print(f"{len(editions)} editions: totals differ by {furthest} at most; {seconds:.0f} s of processor time")


def studied(atlas):
    """Return the languages that New Testaments, NTREX and FLORES-200 have."""
    found = atlas.sel(lm=LM, size="1300").editions
    return found["glottocode"].groupby(found["corpus"]).agg(set).pipe(lambda sets: set.intersection(*sets))


def selections(atlas):
    """Return the editions of each row of the page, by its name, in the languages of three corpora."""
    three = atlas.sel(lm=LM, size="1300").editions
    own = three[three["glottocode"].isin(studied(atlas))]
    nt = own["corpus"] == "nt"
    older = [edition.removeprefix("nt:") for edition in ld.datasets.three_corpora().editions.index]
    first = own.index.isin([f"nt:{INTACT.get(edition, edition)}" for edition in older])
    unmarked = own["marked"] == ""
    stands = own["representative"] == "True"
    found = {"one each (alphabetical)": own.index[~nt | first]}
    for edition in ENGLISH[1:]:
        english = own["language"] == "eng"
        found[f"one each, {edition}"] = own.index[~nt | (first & ~english) | (own.index == f"nt:{edition}")]
    return found | {
        "representative": own.index[~nt | stands],
        "unmarked": own.index[unmarked],
        "all": own.index,
    }


def report():
    """Print the tables of the page."""
    atlas = ld.datasets.edition_atlas()
    chosen = selections(atlas)
    for name, editions in chosen.items():
        some = atlas.sel(editions, lm=LM, size="1300")
        found = ld.difficulty_shares(some)
        printed(f"{name}: {len(editions)} editions", found, "one" not in name and name != "representative")
        if name in ("unmarked", "all"):
            genre = some.facets.assign(genre=["nt" if corpus == "nt" else "news" for corpus in some.facets["corpus"]])
            printed(f"{name}, with genre", ld.difficulty_shares(some, facets=genre), True)
        if "one each" in name:
            nt = next(table for table in found.difficulties if table.startswith("nt"))
            rank = int(found.difficulties[nt].rank()["stan1293"])
            print(f"English is number {rank} of {len(found.difficulties)} from the easiest")
        print(f"pairs told apart {found.pairs_expected():.2f}; half of them by {found.corpora_needed(0.5)} corpora")
    for marked in (False, True):
        print(f"\n{ld.edition_spread(marked=marked).summary()}")
    draw(atlas)
    published(atlas)


def printed(title, found, more):
    """Print shares, and what differs between corpora; of New Testaments with what genre and corpus change as one."""
    print(f"\n== {title}\n{found.frame.assign(variance=1e4 * found.frame['variance']).round(3).to_string()}")
    if more:
        own = found.by_corpus()
        print(own.assign(variance=1e4 * own["variance"]).round(3).to_string())
        nt = own[own["corpus"] == "nt"].set_index("component")["share"]
        text = nt.filter(regex="corpus|genre").sum()
        print(f"New Testaments: language {nt['language']:.2f}, × corpus {text:.2f}, edition {nt['edition']:.2f}")
    print(found.texts().round(2).to_string())


def draw(atlas, draws=500):
    """Print how well two editions drawn in each language agree, and one edition with NTREX."""
    rng = np.random.default_rng(0)
    editions = atlas.editions[atlas.editions["corpus"] == "nt"].astype({"nats": float})
    ntrex = ld.difficulty_shares(atlas.sel(selections(atlas)["all"], lm=LM, size="1300")).difficulties[
        f"ntrex/{LM}/1300"
    ]
    for what, own in (("unmarked", editions[editions["marked"] == ""]), ("all", editions)):
        several = own[own.groupby("glottocode")["nats"].transform("size") > 1].set_index("glottocode")["nats"]
        agreed, with_news = [], []
        for _ in range(draws):
            drawn = several.sample(frac=1, random_state=rng)
            one, other = (drawn.groupby(level=0).nth(place).sort_index() for place in (0, 1))
            agreed.append(one.cov(other) / ((one.var() + other.var()) / 2))
            both = pd.concat([one, ntrex], axis=1).dropna()
            with_news.append(both.corr().iloc[0, 1])
        for name, values in (("two editions agree", agreed), (f"with NTREX ({len(both)} languages)", with_news)):
            low, middle, high = np.quantile(values, [0.05, 0.5, 0.95])
            print(f"{what}: {name} {middle:.2f} ({low:.2f} to {high:.2f})")


def published(atlas):
    """Print shares of sizes and learners in published totals, and how well sizes agree."""
    goldfish = atlas.sel(lm="goldfish")
    sizes = list(goldfish)
    rows = {"four sizes": sizes} | {
        f"{a.split('/')[-1]} and {b.split('/')[-1]} MB": [a, b] for a, b in combinations(sizes, 2)
    }
    for name, some in rows.items():
        found = ld.difficulty_shares(
            {t: goldfish[t] for t in some}, facets=goldfish.facets, edition_info=goldfish.editions
        )
        print(f"Goldfish, {name}, {len(found.difficulties)} languages: size {found.frame['share'].iloc[1]:.3f}")
    for lm in ("xglm-7.5b", "bloom-7.1b"):
        other = atlas.sel(lm=lm)
        tables = {"goldfish": goldfish[sizes[-1]], lm: next(iter(other.values()))}
        common = tables["goldfish"].index.intersection(tables[lm].index)
        facets = pd.DataFrame({"corpus": "flores200", "lm": list(tables)}, index=list(tables))
        found = ld.difficulty_shares(
            {n: t[common] for n, t in tables.items()}, facets=facets, edition_info=atlas.editions
        )
        print(f"Goldfish 1 GB and {lm}, {len(common)} languages: learner {found.frame['share'].iloc[1]:.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--networks", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("runs/edition-atlas"))
    options = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangdiffWarning)  # rare characters, verses that repeat
        if options.write:
            write(options.out, with_networks=options.networks)
        elif options.check:
            check()
        else:
            report()


if __name__ == "__main__":
    main()
