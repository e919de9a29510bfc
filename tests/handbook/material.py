"""Small made-up files and tables under the names that the pages of the handbook use, written to the current folder."""

import gzip
import json
import re
import shutil
import tomllib
import zipfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

import langdiff as ld
from benchmarks.fuzz_readers import CASES
from langdiff.parallelism import Parallelism, Section, make_document, write_parallelisms
from tests.constructions import trees
from tests.handbook.snippets import ROOT, snippets_of

EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))
BIBLES = tomllib.loads((ROOT / "examples/bible-new-testament.toml").read_text())["corpus"]["editions"]
VERSES = [f"{book}001{verse:03}" for book in range(40, 67) for verse in range(1, 11)]  # ten of each book
NEWS = 120  # segments of the line-aligned texts
RELATIONS = ("attribution", "cause", "elaboration")


def write(name: str, text: str) -> None:
    """Write a file, and the folders above it."""
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text, encoding="utf-8")


@cache
def texts(n_intents: int, n_languages: int) -> pd.DataFrame:
    """Return texts of artificial languages, intents × editions."""
    return ld.synthesize(n_intents=n_intents, n_languages=n_languages, seed=1).multitext.to_frame()


def bible() -> None:
    """The twenty editions of the examples, the experiment files, and tables of what is known of languages."""
    frame = texts(len(VERSES), 8)
    own = {edition: frame.iloc[:, k % 8].shift(k // 8, fill_value="ra zu.") for k, edition in enumerate(BIBLES)}
    bibles = pd.DataFrame(own).set_axis(VERSES, axis="index")
    ld.write_multitext(ld.read_frame(bibles), "bible")
    compress(*(f"bible/{edition}.txt" for edition in BIBLES))
    info = pd.DataFrame({"file": [f"{edition}.txt.gz" for edition in BIBLES], "iso639_3": [e[:3] for e in BIBLES]})
    info.assign(family=[f"family {ord(e[0]) % 4}" for e in BIBLES]).to_csv("bible/metadata.csv", index=False)
    for path in EXAMPLES:  # three of twenty editions, few verses, no baselines and no limit to rare characters
        text = path.read_text(encoding="utf-8").replace("min_intents = 7000", "min_intents = 200")
        text = text.replace("workers = 2", "workers = 1\nmax_replaced = 0.5\nbaselines = false")
        write(f"examples/{path.name}", re.sub(r'"ell-vamvas".*?\n\]', "]", text, flags=re.DOTALL))
    Path("DATA").mkdir()
    Path("DATA/bible").symlink_to(Path("bible").absolute())


def world() -> None:
    """Tables of WALS and Glottolog about the languages of the Bibles."""
    codes = sorted({edition[:3] for edition in BIBLES})
    features = "ID,Name\n26A,Prefixing vs. Suffixing\n81A,Order of Words\n"
    categories = (
        "ID,Parameter_ID,Name,Number\n26A-1,26A,Little,1\n26A-2,26A,Strong,2\n81A-1,81A,SOV,1\n81A-2,81A,SVO,2\n"
    )
    values = [
        f"{code}-{f},{code},{f},{k % 2 + 1},{f}-{k % 2 + 1}\n" for k, code in enumerate(codes) for f in ("26A", "81A")
    ]
    about = [f"{code},{code},{code},Family,{code},true,true\n" for code in codes]
    write("wals/parameters.csv", features)
    write("wals/codes.csv", categories)
    write("wals/values.csv", "ID,Language_ID,Parameter_ID,Value,Code_ID\n" + "".join(values))
    write("wals/languages.csv", "ID,Name,ISO639P3code,Family,ISO_codes,Samples_100,Samples_200\n" + "".join(about))
    head = "Glottocode,Name,Level,ISO639P3code,Family_ID,Language_ID,Macroarea,Latitude,Longitude\n"
    rows = [
        f"{code}1234,{code},language,{code},fami{k % 4}000,,Eurasia,{3 * k},{5 * k}\n" for k, code in enumerate(codes)
    ]
    rows += [f"fami{k}000,Family {k},family,,,,,,\n" for k in range(4)]
    write("glottolog/languages.csv", head + "".join(rows))
    families = [",".join(f"{code}1234:1" for code in codes[k::4]) for k in range(4)]
    trees = [f"    tree fami{k}000 = [&R] ({family})fami{k}000:1;\n" for k, family in enumerate(families)]
    write("glottolog/classification.nex", "#NEXUS\nBEGIN TREES;\n" + "".join(trees) + "END;\n")


def drawn(editions: Sequence[str], intents: list[str], **options: object) -> ld.Surprisals:
    """Return surprisals drawn from Model 2."""
    table = ld.simulate(len(intents), len(editions), model="2", seed=1, **options).surprisals
    return ld.Surprisals(bits=table.bits.set_axis(intents, axis="index").set_axis(editions, axis="columns"))


def tables(editions: Sequence[str] = tuple(BIBLES)) -> None:
    """Tables of bits, and of what their intents belong to."""
    documents = pd.DataFrame({"document": [f"d{k // 6}" for k in range(len(VERSES))]}, index=VERSES)
    drawn(editions, VERSES, missing=0.05).with_intent_info(documents).save("surprisals.csv")
    drawn(editions[:5], VERSES).save("bible.csv")
    by_characters = drawn(editions[:5], VERSES)
    by_characters.save("char.csv")
    ld.Surprisals(bits=by_characters.bits**0.98).save("bpe.csv")
    origins = np.resize(["deu", "eng", "fin", "fra", "und"], len(VERSES))
    pd.DataFrame({"intent": VERSES, "original_language": origins}).to_csv("origins.csv", index=False)
    intents = [f"s{number}" for number in range(120)]
    drawn(["deu", "eng", "fin"], intents).save("news.csv")
    about = {
        "intent": intents,
        "document": [f"d{k // 6}" for k in range(120)],
        "translator": np.resize(list("abcdefghijkl"), 120),
    }
    pd.DataFrame(about).to_csv("documents.csv", index=False)


def ntrex() -> None:
    """Line-aligned news in documents, and two such corpora beside it."""
    frame = texts(NEWS, 8)
    for edition, column in zip(("eng", "deu", "zho-TW", "fin"), frame, strict=False):
        write(f"ntrex/{edition}.txt", "\n".join(frame[column]) + "\n")
    write("ntrex/documents.tsv", "document\n" + "".join(f"bbc.{line // 6}\n" for line in range(NEWS)))
    for language, column in zip(("en", "fr"), frame, strict=False):
        write(f"europarl/{language}.txt", "\n".join(frame[column]) + "\n")
    write("europarl/original_language.txt", "".join(f"{('en', 'fr', 'de')[line % 3]}\n" for line in range(NEWS)))
    compress("europarl/en.txt", "europarl/fr.txt", "europarl/original_language.txt")


def parliament() -> None:
    """Two languages in speeches of four sentences, with the language in which each was given."""
    frame = texts(NEWS, 8)
    for language, column in zip(("en", "fr"), frame, strict=False):
        write(f"europarl/{language}.txt", "\n".join(frame[column]) + "\n")
    turns = [line // 4 for line in range(NEWS)]
    spoken = [("en", "fr", "de")[turn % 3] for turn in turns]
    write("europarl/original_language.txt", "".join(f"{language}\n" for language in spoken))
    pd.DataFrame({"turn": turns}).to_csv("europarl/segments.tsv", sep="\t", index=False)


def compress(*names: str) -> None:
    """Compress files by gzip, in place."""
    for name in names:
        with gzip.open(f"{name}.gz", "wb") as stream:
            stream.write(Path(name).read_bytes())
        Path(name).unlink()


def formats() -> None:
    """One small corpus of each format."""
    made = {
        "ebible/corpus/deu-a.txt": CASES["ebible"].seeds[0],
        "ebible/metadata/vref.txt": dict(CASES["ebible"].beside)["vref.txt"],
        "deu-x/PSA.usfm": CASES["usfm"].seeds[0],
        "deu-x/TIT.usfm": CASES["usfm"].seeds[1],
        "release/USX_1/PSA.usx": CASES["usx"].seeds[0],
        "zefania/x.xml": CASES["zefania"].seeds[0],
        "eng-web.usfx.xml": CASES["usfx"].seeds[0],
        "sentences.jsonl": '{"id": 1, "lang": "deu", "text": "ein Hund"}\n',
        "memory.tmx": CASES["tmx"].seeds[0],
        "osis/eng-x.xml": CASES["osis"].seeds[0].replace('"deu"', '"eng"'),
        "ces/German.xml": CASES["ces"].seeds[0],
        "costep/2000-01-17.xml": CASES["costep"].seeds[0],
        "nist/ref.xml": CASES["mteval"].seeds[0],
        "wmt/test-src.en.sgm": CASES["sgml"].seeds[0].replace("origlang=cz", "origlang=en"),
        "wmt/wmt.en-de.xml": CASES["wmt"].seeds[0],
        "texts.csv": CASES["table"].seeds[0],
        "flores/deu_Latn.dev": "ein Hund\n",
        "flores/eng_Latn.dev": "a dog\n",
    }
    for name, text in made.items():
        write(name, text)
    with zipfile.ZipFile("eng-web_usfm.zip", "w") as archive:
        archive.writestr("PSA.usfm", CASES["usfm"].seeds[0])
    with zipfile.ZipFile("eng-x_usj.zip", "w") as archive:
        archive.writestr("PSA.json", CASES["usj"].seeds[0])


def scraps() -> None:
    """Tables that are read with pandas: articles by edition, and sentences in treebanks."""
    write("udhr/udhr.tsv", "key\tarticle\tparagraph\ttext\ndeu\t1\t1\tein Hund\ndeu\t1\t2\tbellt\nnan\t1\t1\tgau\n")
    compress("udhr/udhr.tsv")
    write("udhr/languages.tsv", "key\tiso639_3\tname\ndeu\tdeu\tGerman\nnan\tnan\tMin Nan\n")
    sentence = "# sent_id = n01001011\n# newpar\n# text = {}\n1\tx\tx\tNOUN\t_\t_\t0\troot\t_\t_\n\n"
    for language, text in (("en", "A dog barks."), ("fi", "Koira haukkuu.")):
        write(f"pud/{language}_pud.conllu", sentence.format(text))
        compress(f"pud/{language}_pud.conllu")
    write("pud/segments.tsv", "sent_id\tdomain\toriginal_language\nn01001011\tnews\ten\n")


def costep() -> None:
    """Two days of a parliament in three languages, of which each was spoken in turn."""
    frame = texts(NEWS, 8)
    for day in (0, 1):
        turns = []
        for turn, start in enumerate(range(day * NEWS // 2, (day + 1) * NEWS // 2, 5), 1):
            said = [
                f'<text language="{language}">'
                + "".join(f"<p>{text}</p>" for text in frame.iloc[start : start + 5, k])
                + "</text>"
                for k, language in enumerate(("en", "de", "fr"))
            ]
            spoken = ("en", "de", "fr")[turn % 3]
            head = f'<turn id="{turn}"><speaker president="no" language="{spoken}" name="X">'
            turns.append(head + "".join(said) + "</speaker></turn>")
        chapter = f'<chapter id="1">{"".join(turns)}</chapter>'
        write(
            f"corpora/costep/sessions/2000-01-1{day + 7}.xml", f'<session date="2000-01-1{day + 7}">{chapter}</session>'
        )


def treebanks() -> None:
    """Treebanks of the phenomena of constructions, in several sizes, and parses named by language."""
    for name, times in (("dev", 2), ("test", 3), ("en_ewt", 6), ("en_gum", 5), ("en_partut", 4)):
        bank = "".join(trees.ALL.replace("# sent_id = ", f"# sent_id = {k}-") for k in range(times))
        write(f"{name}.conllu", bank)
        if name != "dev":
            compress(f"{name}.conllu")
    for language in ("deu", "fin"):
        write(f"parsed/{language}.conllu", trees.ALL)


def two_treebanks() -> None:
    """Two treebanks that are not compressed."""
    write("one.conllu", trees.ALL)
    write("two.conllu", trees.ALL * 2)


def constructions() -> None:
    """The gold set that the page itself shows, what a parser makes of its sentences, and parsers of a treebank."""
    gold, sentences, *_ = [block.text for block in snippets_of("docs/constructions.md") if block.language == "text"]
    write("gold.tsv", gold)
    write("sentences.tsv", sentences)
    carried = (
        "He he PRON 2 nsubj",
        "carried carry VERB 0 root",
        "out out ADP 2 compound:prt",
        "the the DET 5 det",
        "plan plan NOUN 2 obj",
    )
    clear = (
        "It it PRON 3 expl",
        "is be AUX 3 cop",
        "clear clear ADJ 0 root",
        "that that SCONJ 6 mark",
        "he he PRON 6 nsubj",
        "left leave VERB 3 csubj",
    )
    write("mine.conllu", trees.conllu("v1", *carried) + trees.conllu("i1", *clear))
    for name, relation in (("en_pud", "obj"), ("C2L2", "obj"), ("LATTICE", "iobj"), ("UDPipe", "obl")):
        write(f"{name}.conllu", trees.ALL.replace("\tobj\t", f"\t{relation}\t"))
    for name, relation in (("one", "obj"), ("other", "xcomp")):  # with different faults
        write(f"outputs/{name}.conllu", trees.ALL.replace(f"\t{relation}\t", "\tdep\t"))


def parsers_of_pud() -> None:
    """Outputs of two parsers for English PUD: its trees, with another relation for objects and for expletives."""
    gold = gzip.decompress(Path("DATA/pud/en_pud.conllu.gz").read_bytes()).decode("utf-8")
    write("a.conllu", gold.replace("\tobj\t", "\tdep\t"))
    write("b.conllu", gold.replace("\texpl\t", "\tdep\t"))


def discourse_parsers() -> None:
    """The trees of `discourse`, under the names of two parsers in a recipe."""
    discourse()
    Path("parser1").rename("all")
    Path("parser2").rename("words")


def discourse() -> None:
    """Trees of twelve documents, and those of two parsers that get two of three decisions right."""
    rng = np.random.default_rng(0)
    for name in ("rain", *(f"d{number}" for number in range(11))):
        to_the_right, relations = bool(rng.integers(2)), rng.choice(RELATIONS, 7)
        write(f"gold/{name}.spans", chain(relations, to_the_right))
        for parser in ("parser1", "parser2"):
            predicted = np.where(rng.random(7) < 0.5, relations, rng.choice(RELATIONS, 7))
            write(f"{parser}/{name}.spans", chain(predicted, to_the_right == (rng.random() < 0.7)))
    shutil.copytree("parser1", "parser")


def chain(relations: Sequence[str], to_the_right: bool) -> str:
    """Return a tree in which each unit is joined to all on one side of it: start, end, nuclearity, relation."""
    last, rows = len(relations) + 1, []
    for unit, relation in enumerate(relations, 1):
        if to_the_right:
            rows += [f"{unit} {unit} N span", f"{unit + 1} {last} S {relation}"]
        else:
            rows += [f"1 {unit} N span", f"{unit + 1} {unit + 1} S {relation}"]
    return "\n".join(rows) + "\n"


@cache
def sermon(name: str) -> object:
    """Return a document of three sections with four parallelisms, one of them within another."""
    words = "we sing , we dance , and they sleep . he came and he saw . they run , they play , they rest ."
    branches = [((0, 2), (3, 5)), ((10, 12), (13, 15)), ((16, 18), (19, 21), (22, 24))]
    sections = [Section("1", 0, 10), Section("2", 10, 16), Section("3", 16, 25)]
    return make_document(name, words.split(), [Parallelism(one) for one in branches], sections)


def sermons() -> None:
    """Sermons, annotated by hand, by two annotators and by two taggers that miss some and cut others short."""
    documents = {str(number): sermon(str(number)) for number in range(16, 26)}
    for folder in ("asp/xml/tokenized", "sermons", "gold", "annotator-a", "annotator-b"):
        write_parallelisms(documents, folder)
    rng = np.random.default_rng(0)
    for folder in ("tagger1", "tagger2"):
        found = {}
        for name, document in documents.items():
            kept = [
                Parallelism(tuple((start, end - (rng.random() < 0.4)) for start, end in one.branches))
                for one in document.parallelisms
                if rng.random() < 0.7
            ]
            found[name] = make_document(name, document.tokens, kept, document.sections)
        write_parallelisms(found, folder)
    scores = np.random.default_rng(0).random((6, 4)).round(3)
    pd.DataFrame(scores, columns=list("abcd")).rename_axis("block").to_csv("my_scores.csv")
    parts = np.resize(["training", "validation", "optimization", "test"], len(documents))
    pd.DataFrame({"document": list(documents), "part": parts}).to_csv("parts.csv", index=False)
    small = "examples/small-tagger.toml"
    write(small, (ROOT / small).read_text(encoding="utf-8"))


def answers() -> None:
    """Right and wrong answers of parsers in two constructions."""
    made = ld.simulate_outcomes(200, 3, groups={"control": 0.0, "raising": 1.0}, documents=40, seed=1).outcomes
    long = made.successes.set_axis(["graph-based", "transition-based", "neural"], axis="columns").stack()
    frame = long.rename("successes").rename_axis(["item", "system"]).reset_index()
    about = made.items.rename(columns={"group": "construction"})
    frame.assign(trials=1).join(about, on="item").to_csv("parsers.csv", index=False)
    chrf = ld.simulate_crossed_outcomes(60, 3, 3, seed=1).outcomes.to_frame().drop(columns="trials")
    chrf = chrf.rename(columns={"successes": "score", "column_language": "language"})
    chrf["system"] = chrf.pop("column_system")
    chrf.assign(score=40 + 9.5 * chrf["score"], document=chrf["item"].str[-1]).to_csv("chrf.csv", index=False)
    spans, named = (ld.simulate_outcomes(200, 3, seed=seed).outcomes for seed in (2, 3))
    spans.save("spans.csv")
    right = spans.successes * named.successes  # a relation is right only if its span is
    ld.Outcomes(successes=right, trials=spans.trials, items=spans.items, systems=spans.systems).save("relations.csv")


def logs() -> None:
    """Logs of lm-evaluation-harness in three languages, and a table of scores in nats."""
    table = drawn(["eng", "deu", "fin"], [str(number) for number in range(60)])
    for edition in table.editions:
        text = "a dog " * 5
        rows = [
            {
                "doc_id": int(intent),
                "doc": {"text": text},
                "arguments": [[text]],
                "resps": [[-bits]],
                "filtered_resps": [-bits],
                "doc_hash": intent,
            }
            for intent, bits in table.bits[edition].items()
        ]
        write(f"samples_flores_{edition}.jsonl", "\n".join(map(json.dumps, rows)) + "\n")
    long = table.to_frame().reset_index()
    long.assign(bits=-long["bits"])[["intent", "edition", "bits"]].to_csv("scores.csv", index=False)


def quiz() -> None:
    """Logs of lm-evaluation-harness: three models, five languages, 300 questions with four options on 75 passages.

    A model that does not know an answer guesses. Abilities are -1, 0 and 1, difficulties of languages -.6 to .8.
    """
    rng = np.random.default_rng(1)
    questions = np.repeat(rng.normal(0, 0.6, 75), 4) + rng.normal(0, 1, 300)
    for model, ability in {"small": -1.0, "medium": 0.0, "large": 1.0}.items():
        for language, difficulty in {"deu": -0.3, "eng": -0.6, "fin": 0.0, "tha": 0.1, "yor": 0.8}.items():
            knows = ability - difficulty - questions + rng.logistic(size=300) > 0
            right = knows | (rng.random(300) < 0.25)
            rows = []
            for row, question in enumerate(rng.permutation(300).tolist()):
                chosen = question % 4 if right[question] else (question + 1) % 4
                likelihoods = [["-1.5" if option == chosen else "-3.0", "False"] for option in range(4)]
                rows.append(
                    {
                        "doc_id": row,
                        "doc": {"link": f"p{question // 4}", "question_number": question % 4 + 1},
                        "target": str(question % 4),
                        "arguments": {f"gen_args_{k}": {"arg_0": "…", "arg_1": f" {'ABCD'[k]}"} for k in range(4)},
                        "filtered_resps": likelihoods,
                        "filter": "none",
                        "metrics": ["acc"],
                        "doc_hash": f"{language}-{question}",
                        "acc": float(right[question]),
                    }
                )
            lines = "\n".join(map(json.dumps, rows)) + "\n"
            write(f"logs/{model}/samples_quiz_{language}_2026-01-01T00-00-00.jsonl", lines)


def evaluations() -> None:
    """Logs of lm-evaluation-harness of two models, as if they were told to add no start token."""
    real = Path(__file__).parents[1] / "data" / "logs" / "real" / "lm_eval"
    for file in real.rglob("*.json*"):
        text = file.read_text(encoding="utf-8")
        if file.name.startswith("results_"):
            found = json.loads(text)
            found["config"]["model_args"]["add_bos_token"] = False
            text = json.dumps(found)
        folder = Path("results", *file.relative_to(real).parts[:-1])
        folder.mkdir(parents=True, exist_ok=True)
        (folder / file.name).write_text(text, encoding="utf-8")


def gpt(folder: str = "models/gpt2") -> None:
    """A causal model with random weights, and a corpus that it scores."""
    from tests.lm.external.tiny_gpt import make_gpt, make_tokenizer

    tokenizer = make_tokenizer()
    make_gpt(tokenizer).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    ld.write_multitext(ld.read_frame(texts(NEWS, 8).iloc[:40, :3]), "corpus")


def llm() -> None:
    """A causal model with random weights, and lines of three languages."""
    gpt("M")
    for edition, column in zip(("deu_Latn", "eng_Latn", "fin_Latn"), texts(NEWS, 8), strict=False):
        write(f"flores/{edition}.txt", "\n".join(texts(NEWS, 8)[column].iloc[:40]) + "\n")


def wmt() -> None:
    """Test sets of five years in three languages, each document in all of them."""
    frame = texts(NEWS, 8)
    for year in range(5):
        starts = range(year * NEWS // 5, (year + 1) * NEWS // 5, 6)  # documents of six segments
        for language, column in zip(("en", "de", "fr"), frame, strict=False):
            body = ""
            for start in starts:
                origin = ("en", "de", "fr")[start // 6 % 3]
                lines = [
                    f'<seg id="{k}">{text}</seg>\n' for k, text in enumerate(frame[column].iloc[start : start + 6], 1)
                ]
                body += f'<doc docid="d{start}" origlang="{origin}">\n{"".join(lines)}</doc>\n'
            head = f'<srcset setid="newstest{2009 + year}" srclang="any">\n'
            write(f"wmt/newstest20{9 + year:02}-src.{language}.sgm", f"{head}{body}</srcset>\n")


def systems() -> None:
    """Write llama.csv and gpt2.csv, the bits and tokens of the same texts in twenty-four languages."""
    for seed, name in enumerate(("llama", "gpt2")):
        table = ld.simulate(60, 24, seed=seed).surprisals
        ld.Surprisals(bits=table.bits, units=(table.bits / 3).round() + 1, lm=name).save(f"{name}.csv")


def data_by_language() -> dict[str, pd.DataFrame]:
    """Return amounts of training data by language."""
    return {"data": pd.DataFrame({"data": range(1, 25)}, index=[f"e{j}" for j in range(1, 25)])}
