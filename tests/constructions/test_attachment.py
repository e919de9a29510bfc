"""Attachment scores: words aligned as in the shared task, against counts made by hand and by a direct recount."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from langdiff.constructions import evaluate_attachment, mine_candidates
from langdiff.constructions.attachment import Place, Text, align_words, exact, find_runs
from langdiff.constructions.graphs import read_graphs
from langdiff.errors import ConfigError, DataError, LangdiffWarning
from tests.helpers import refused

from .trees import ALL


def conllu(*sentences, documents=()):
    """Return CoNLL-U of sentences of words "form upos features head relation", and tokens "3-4 form"."""
    text = ""
    for number, words in enumerate(sentences):
        text += f"# newdoc id = d{number}\n" if number in documents else ""
        text += f"# sent_id = s{number}\n"
        place = 0
        for word in words:
            cells = word.split()
            if len(cells) == 2:
                text += "\t".join([cells[0], cells[1], *"________"]) + "\n"
                continue
            place += 1
            form, upos, features, head, relation = cells
            text += "\t".join([str(place), form, "_", upos, "_", features, head, relation, "_", "_"]) + "\n"
        text += "\n"
    return text


GOLD = (
    ("The DET _ 2 det", "dog NOUN Number=Sing 4 nsubj", "has AUX _ 4 aux", "barked VERB _ 0 root", ". PUNCT _ 4 punct"),
    ("1-2 Du", "De ADP _ 3 case", "le DET _ 3 det", "pain NOUN _ 0 root", "vite ADV _ 3 advmod"),
)


@pytest.fixture
def score(write):
    def of(*systems, gold=GOLD, **options):
        files = {f"p{k}": write(f"p{k}.conllu", conllu(*own)) for k, own in enumerate(systems)}
        return evaluate_attachment(write("gold.conllu", conllu(*gold, **options)), files)

    return of


def counts(scores, metric):
    return tuple(scores.to_frame().set_index("metric").loc[metric, ["correct", "gold", "predicted"]].astype(int))


def test_heads_relations_and_function_words_count_where_they_should(score):
    first = list(GOLD[0])
    first[0] = "The PRON _ 2 det:poss"  # relation without its subtype is right, but the noun's function word is not
    first[2] = "has AUX _ 2 aux"  # head wrong: barked lacks a function word, dog has one more
    scores = score((tuple(first), GOLD[1]))
    assert {m: counts(scores, m)[0] for m in ("uas", "las", "clas", "mlas")} == {
        "uas": 8,
        "las": 8,
        "clas": 4,
        "mlas": 2,
    }
    assert scores.by_relation().set_index("relation").loc[["aux", "det"], "f1"].tolist() == [0.0, 1.0]


def test_features_count_in_mlas_if_they_are_universal(score):
    def changed(cell):
        return ((GOLD[0][0], f"dog NOUN {cell} 4 nsubj", *GOLD[0][2:]), GOLD[1])

    assert counts(score(changed("Number=Sing|Typo=Yes")), "mlas")[0] == 4
    assert counts(score(changed("Number=Plur")), "mlas")[0] == 3


def test_other_tokens_and_other_sentences(score):
    joined = (
        *("The DET _ 2 det", "dog NOUN Number=Sing 4 nsubj", "has AUX _ 4 aux", "barked. VERB _ 0 root"),
        *("Du ADP _ 6 case", "pain NOUN _ 4 obj", "vite ADV _ 6 advmod"),
    )
    scores = score((joined,))
    # aligned: the, dog, has, pain, vite; heads right of the (dog) and vite (pain)
    assert counts(scores, "las") == (2, 9, 7)
    assert scores.counts[["sentence", "aligned", "predicted"]].to_numpy().tolist() == [["s0", 3, 4], ["s1", 2, 3]]


def test_a_sentence_with_other_characters_is_left_out_on_both_sides(score):
    other = (GOLD[0], ("Le DET _ 2 det", "pain NOUN _ 0 root"), tuple(f"word{k} X _ {k} dep" for k in range(4)))
    with pytest.warns(LangdiffWarning, match=r"left out on both sides: 'p0': 1 \('s1'\)"):
        scores = score(other, gold=(GOLD[0], GOLD[1], other[2]))
    assert counts(scores, "las") == (9, 9, 9)
    assert "because characters differ: 1 sentences" in scores.summary()


def test_another_text_is_refused(score):
    refused(DataError, r"0 of 2 sentences of .* have the same characters", score, (("Nothing X _ 0 root",),))
    refused(ConfigError, "at least one parser", evaluate_attachment, "gold.conllu", {})


def test_what_is_no_tree_and_a_name_that_comes_twice_are_refused(score, write):
    cycle = ("a NOUN _ 2 obj", "b NOUN _ 1 obj", "c VERB _ 0 root")
    refused(DataError, r"p0.conllu, line 2: .*word 1 is its own ancestor", score, (cycle,), gold=(cycle[2:],))
    refused(DataError, r"gold.conllu, line 2: .*it has 0 roots", score, GOLD, gold=(cycle[:2],))
    twice = write("twice.conllu", conllu(*GOLD).replace("s1", "s0"))
    refused(DataError, "1 sent_id.* come twice: 's0'", evaluate_attachment, twice, {"a": twice})


def test_words_of_constructions_and_lengths(write):
    bank = write("bank.conllu", ALL)
    targets = mine_candidates(bank, phenomena=["vpart"]).gold()
    scores = evaluate_attachment(bank, {"mine": bank}, targets=targets)
    table = scores.by_construction()
    named = {(t.item, place) for t in targets.targets for node in (*t.heads, *t.dependents) for place in node}
    assert table[["construction", "gold", "uas", "las"]].to_numpy().tolist() == [["vpart", len(named), 1.0, 1.0]]
    assert scores.by_length()["gold"].sum() == scores.to_frame()["gold"].sum()


def test_differences_have_the_errors_of_a_jackknife(score):
    rng = np.random.default_rng(1)
    gold = [tuple(f"w{k}x{n} X _ {max(k - 1, 0)} {'dep' if k > 1 else 'root'}" for k in range(1, 7)) for n in range(40)]

    def broken(share):
        return [tuple(w.replace(" dep", " obj") if rng.random() < share else w for w in words) for words in gold]

    scores = score(broken(0.2), broken(0.3), gold=gold, documents=range(0, 40, 2))
    for clusters, size in (("sentence", 1), ("document", 2)):
        row = scores.compare("las", clusters=clusters).frame.iloc[0]
        right = scores.counts.pivot(index="sentence", columns="parser", values="las").loc[[f"s{n}" for n in range(40)]]
        sums = (right["p0"] - right["p1"]).to_numpy().reshape(-1, size).sum(axis=1)
        left_out = (sums.sum() - sums) / (6 * (40 - size))
        n = len(sums)
        jackknife = np.sqrt((n - 1) / n * np.sum((left_out - left_out.mean()) ** 2))
        assert row["estimate"] == pytest.approx(sums.sum() / 240)
        assert row["std_error"] == pytest.approx(jackknife, rel=1e-9)  # clusters of one size: a ratio is a mean
        assert row["df"] == pytest.approx(n - 1)
    assert scores.effects().words == "Independent units: 20 documents."
    refused(ConfigError, "metric is one of", scores.compare, "blex")


TOKENS = st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=3), min_size=1, max_size=6)


def places(tokens):
    at = 0
    for token in tokens:
        for word in token:
            yield Place(at, at + len(token), len(token) > 1, word)
        at += len(token)


@given(TOKENS, TOKENS)
def test_pairs_rise_and_have_equal_forms_or_places(one, other):
    gold, system = list(places(one)), list(places(other))
    pairs = list(align_words(gold, system))
    assert all(a < c and b < d for (a, b), (c, d) in pairwise(pairs))
    for g, s in pairs:
        assert gold[g][:2] == system[s][:2] or gold[g].form == system[s].form
    assert list(align_words(gold, gold)) == [(k, k) for k in range(len(gold))]


@given(st.lists(st.booleans(), min_size=30, max_size=30))
def test_runs_are_the_sentences_that_are_the_same(tmp_path_factory, kept):
    folder = tmp_path_factory.mktemp("runs")
    texts = [f"sentence{n}withenoughcharacters X _ 0 root" for n in range(30)]
    gold, system = folder / "gold.conllu", folder / "mine.conllu"
    gold.write_text(conllu(*((text,) for text in texts)))
    system.write_text(conllu(*((text if same else f"x{text}",) for text, same in zip(texts, kept, strict=True))))
    ours, theirs = (Text(list(read_graphs(file)), exact) for file in (gold, system))
    found = {n for run in find_runs(ours, theirs) for n in range(run.first, run.last)}
    # a word with one more character contains the sentence, which is found inside it unless it begins the search
    assert {n for n, same in enumerate(kept) if same} <= found
