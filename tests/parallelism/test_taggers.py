"""Taggers: networks, training, saving, and the published settings."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

import langdiff as ld
from langdiff.datasets import bothwell2023
from langdiff.errors import CheckpointError, ConfigError, DataError
from langdiff.parallelism import (
    Parallelism,
    make_document,
    published_settings,
    read_settings,
    score_parallelisms,
    search_taggers,
    train_tagger,
)
from langdiff.parallelism.taggers.bert import FrozenBert
from langdiff.parallelism.taggers.network import TaggerNetwork, Transformer
from langdiff.parallelism.taggers.search import SEARCH_SPACE, draw_settings
from langdiff.parallelism.taggers.settings import make_settings
from langdiff.parallelism.taggers.training import EarlyStopping
from langdiff.parallelism.taggers.words import UNKNOWN, Inputs, SingletonReplacement, blend, count_words, make_batch
from tests.helpers import refused

BIO = {"tagset": "BIO", "link": "TD", "learning_rate": 0.03}
LSTM = {"encoder": "bilstm", "depth": 1}
TRANSFORMER = {"encoder": "transformer", "depth": 1, "heads": 2, "hidden_size": 8, "activation": "gelu"}
KINDS = {
    "learned-word": {"embedding": "learned-word", "input_size": 8, "hidden_size": 8, **LSTM},
    "word2vec": {"embedding": "word2vec", "hidden_size": 4, "lemmatize": True, **LSTM},
    "learned-subword": {"embedding": "learned-subword", "blending": "sum", "input_size": 8, **TRANSFORMER},
    "bert": {"embedding": "bert", "encoder": "none", "blending": "first"},
    "bert-bilstm": {"embedding": "bert", "hidden_size": 8, "blending": "mean", **LSTM},
    "bert-transformer": {"embedding": "bert", "blending": "sum", **TRANSFORMER},
}
SINGLE = {"rtol": 1e-4, "atol": 1e-5}  # single precision, sums in another order


def _settings(kind, **other):
    return make_settings(**{**BIO, **KINDS[kind], **other})


def _train(document, kind, request, **options):
    embedding = KINDS[kind]["embedding"]
    files = {"vectors": request.getfixturevalue("vectors")} if embedding == "word2vec" else {}
    files |= {"bert": request.getfixturevalue("bert")} if embedding == "bert" else {}
    options = {"seed": 0, "singletons": False, "max_epochs": 8, "lemmatizer": str.lower, **files, **options}
    return train_tagger([document], [document], _settings(kind), **options)


SLOW = [pytest.param(kind, marks=pytest.mark.slow) for kind in ("word2vec", "bert", "bert-bilstm")]


@pytest.mark.parametrize("kind", ["learned-word", "learned-subword", "bert-transformer", *SLOW])
def test_every_kind_learns_and_predicts_the_same_when_read_again(kind, document, request, tmp_path):
    tagger = _train(document, kind, request)
    assert tagger.settings.model == kind
    assert tagger.history["loss"].iloc[-1] < 0.9 * tagger.history["loss"].iloc[0]
    tagger.save(tmp_path)
    again = ld.read(tmp_path, lemmatizer=str.lower if kind == "word2vec" else None)
    other = make_document("2", ["they", "sing", "and", "we", "sleep", "soundly"], [])
    inputs = again.source.prepare([other.tokens])
    batch = make_batch(inputs)
    torch.testing.assert_close(again.network.emissions(batch), tagger.network.emissions(batch), rtol=0, atol=0)
    assert again.predict([document, other]) == tagger.predict([document, other])
    pd.testing.assert_frame_equal(again.history, tagger.history)
    assert again.summary() == tagger.summary()
    assert ("have no vector" in again.summary()) == (kind == "word2vec")


def test_only_learned_words_become_unknown(document, request):
    whole = _train(document, "learned-subword", request, max_epochs=2, singletons=True)
    none = _train(document, "learned-subword", request, max_epochs=2)
    assert whole.history["loss"].tolist() == none.history["loss"].tolist()
    whole = _train(document, "learned-word", request, max_epochs=1, singletons=True)
    none = _train(document, "learned-word", request, max_epochs=1)
    assert whole.history["loss"].tolist() != none.history["loss"].tolist()


@pytest.mark.slow
def test_a_small_tagger_learns_three_flat_sections_by_heart(document):
    settings = _settings("learned-word", input_size=16, hidden_size=16)
    tagger = train_tagger([document], [document], settings, seed=0, singletons=False, max_epochs=45)
    frame = score_parallelisms({"tagger": tagger.predict([document])}, {"1": document}).to_frame()
    assert frame.set_index("metric").at["MBAWO", "f"] > 0.95
    assert list(frame.set_index("metric").loc[["MBAWO", "EPM"], "f"]) == [
        tagger.history["mbawo"].max(),
        tagger.history.loc[tagger.history["kept"], "epm"].iloc[-1],
    ]


def test_training_goes_on_as_if_it_had_never_stopped(document, tmp_path, request):
    whole = _train(document, "learned-subword", request, max_epochs=5)
    _train(document, "learned-subword", request, max_epochs=3, resume=tmp_path)
    resumed = _train(document, "learned-subword", request, max_epochs=5, resume=tmp_path)
    for one, other in zip(whole.network.parameters(), resumed.network.parameters(), strict=True):
        assert torch.equal(one, other)
    columns = ["epoch", "loss", "mbawo", "kept"]
    pd.testing.assert_frame_equal(whole.history[columns], resumed.history[columns])
    other = _train(document, "learned-subword", request, max_epochs=1, resume=tmp_path, seed=1)
    assert len(other.history) == 1  # another seed does not go on from there


@pytest.mark.parametrize(
    ("scores", "kept", "waited"),
    [
        ([0.2, 0.5, 0.5, 0.4, 0.3], 3, 2),  # ties replace
        ([0.0, 0.0, 0.0], 3, 3),  # at 0 they do, but patience runs
        ([0.0, 0.1, 0.0, 0.1], 4, 0),
    ],
)
def test_early_stopping_keeps_the_last_of_the_best(scores, kept, waited):
    stopping = EarlyStopping(3)
    keeps = [stopping.keeps(score) for score in scores]
    assert max(number for number, keep in enumerate(keeps, 1) if keep) == kept
    assert stopping.waited == waited
    assert stopping.is_over == (waited == 3)
    assert vars(EarlyStopping(3, scores)) == vars(stopping)


def test_training_stops_when_patience_runs_out(document):
    settings = _settings("learned-word", learning_rate=1e-6)  # learns nothing: F1 stays 0 or where it began
    nothing = make_document("2", document.tokens, [])
    tagger = train_tagger([document], [nothing], settings, seed=0, max_epochs=50, patience=4)
    assert len(tagger.history) == 4
    assert tagger.history["kept"].all()


def test_words_seen_once_become_unknown_as_often_as_they_should():
    vocabulary = count_words([["a", "a", "b", "c"], ["b", "b", "d", "d", "e"]])
    assert vocabulary.words == ("a", "b", "c", "d", "e")
    assert vocabulary.once == (3, 5)
    assert vocabulary.replacement == 2 / (2 + 2 * 2)
    assert count_words([["a"] * 3]).replacement == 0
    inputs = Inputs(4, ids=torch.tensor([1, 2, 3, 5]))
    rng = np.random.default_rng(0)
    replaced = torch.stack([SingletonReplacement(vocabulary)(inputs, rng).ids for _ in range(4000)]) == UNKNOWN
    assert not replaced[:, :2].any()
    assert replaced[:, 2:].float().mean(dim=0).tolist() == pytest.approx([1 / 3, 1 / 3], abs=0.03)  # 4 std. errors


def test_the_published_training_part_has_its_replacement_probability():
    from langdiff.parallelism.taggers.words import replacement_probability

    assert replacement_probability(7367, 1958) == pytest.approx(0.6529, abs=5e-5)
    assert replacement_probability(0, 0) == 0


def test_the_transformer_sees_other_positions_and_no_padding():
    encoder = Transformer(8, 16, 2, 2, "relu").eval()
    vectors = torch.randn(1, 5, 8, generator=torch.Generator().manual_seed(0))
    lengths = torch.tensor([5])
    base = encoder(vectors, lengths)
    changed = vectors.clone()
    changed[0, 3, 0] += 1  # of all dimensions, it would be normalized away
    assert (encoder(changed, lengths) - base).abs().amax(dim=2).min() > 1e-4  # at every position
    swapped = encoder(vectors[:, [1, 0, 2, 3, 4]], lengths)[:, [1, 0, 2, 3, 4]]
    assert (swapped - base).abs().max() > 1e-3  # order counts
    padded = torch.cat([vectors, torch.full((1, 3, 8), 9.0)], dim=1)
    torch.testing.assert_close(encoder(padded, lengths)[:, :5], base, **SINGLE)


def test_the_transformer_is_the_equation():
    encoder = Transformer(4, 6, 1, 1, "relu").eval().double()
    x = torch.randn(1, 3, 4, generator=torch.Generator().manual_seed(1), dtype=torch.double)
    layer = encoder.layers.layers[0]
    from langdiff.parallelism.taggers.network import sinusoids

    y = x + sinusoids(3, 4)
    q, k, v = (layer.norm1(y) @ layer.self_attn.in_proj_weight.T + layer.self_attn.in_proj_bias).chunk(3, dim=2)
    y = y + layer.self_attn.out_proj(torch.softmax(q @ k.transpose(1, 2) / 2, dim=2) @ v)  # 2 = sqrt(4)
    y = y + layer.linear2(torch.relu(layer.linear1(layer.norm2(y))))
    torch.testing.assert_close(encoder(x, torch.tensor([3])), encoder.layers.norm(y))


@pytest.mark.parametrize("kind", ["learned-word", "learned-subword"])
def test_a_batch_is_its_sections_one_by_one(kind):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = TaggerNetwork(_settings(kind), 3, 9, None).eval()
    owners = [torch.tensor([0, 0, 1, 2]), torch.tensor([0]), torch.tensor([0, 1, 2, 3, 3])]
    inputs = [
        Inputs(int(own[-1]) + 1, ids=torch.arange(len(own)) + 2, owners=own)
        if kind == "learned-subword"
        else Inputs(int(own[-1]) + 1, ids=torch.arange(int(own[-1]) + 1))
        for own in owners
    ]
    tags = [torch.arange(each.length)[None] % 3 for each in inputs]
    padded = torch.zeros(3, 4, dtype=torch.long)
    for row, own in enumerate(tags):
        padded[row, : own.shape[1]] = own

    def gradients(loss):
        network.zero_grad()
        loss.sum().backward()
        return [weights.grad.clone() for weights in network.parameters()]

    together = network(make_batch(inputs), padded)
    apart = torch.cat([network(make_batch([each]), own) for each, own in zip(inputs, tags, strict=True)])
    torch.testing.assert_close(together, apart, **SINGLE)
    for one, other in zip(gradients(together), gradients(apart), strict=True):
        torch.testing.assert_close(one, other, **SINGLE)
    assert network.best(make_batch(inputs)) == [network.best(make_batch([each]))[0] for each in inputs]


def test_blending_by_hand():
    vectors = torch.tensor([[1.0, 2.0], [3.0, 0.0], [5.0, 5.0], [1.0, 1.0], [6.0, 4.0], [2.0, 1.0]])
    owners = torch.tensor([0, 0, 1, 2, 2, 2])
    assert blend(vectors, owners, 3, "first").tolist() == [[1, 2], [5, 5], [1, 1]]
    assert blend(vectors, owners, 3, "mean").tolist() == [[2, 1], [5, 5], [3, 2]]
    assert blend(vectors, owners, 3, "sum").tolist() == [[4, 2], [5, 5], [9, 6]]
    refused(ConfigError, "first, mean or sum", blend, vectors, owners, 3, "max")


@pytest.mark.slow
def test_the_published_settings_are_in_the_search_space_and_build():
    rows = bothwell2023().settings
    keys = ["/".join(row) for row in rows[["corpus", "model", "scheme"]].itertuples(index=False)]
    assert len(keys) == 144
    for key in keys:
        settings = published_settings(key)
        space = SEARCH_SPACE[settings.model]
        for name, values in space.varied.items():
            assert getattr(settings, name) in values, (key, name)
        learned = 10 if settings.embedding.startswith("learned") else None
        with torch.device("meta"):  # no numbers, shapes only
            network = TaggerNetwork(settings, 24, learned, space.width)
        if settings.encoder == "bilstm":
            assert network.encoder.width == settings.hidden_size <= (settings.input_size or space.width)
            assert network.encoder.lstm.hidden_size == settings.hidden_size // 2
    lemmatized = [published_settings(key).lemmatize for key in keys]
    assert sum(lemmatized) == 3 + 16
    best = published_settings("ASP/learned-word/BIOMJ-TD")
    assert (best.depth, best.hidden_size, best.input_size, best.learning_rate) == (4, 96, 512, 0.0052)


@pytest.mark.parametrize("model", SEARCH_SPACE)
def test_draws_are_from_the_space_and_never_twice_the_same(model):
    drawn = draw_settings(model, "BIOE-BD", 60, seed=3)
    assert len(set(drawn)) == 60
    space = SEARCH_SPACE[model]
    for name, values in space.varied.items():
        assert {getattr(settings, name) for settings in drawn} <= set(values)
    if "bilstm" in {settings.encoder for settings in drawn}:
        assert all(settings.hidden_size <= (settings.input_size or space.width) for settings in drawn)
        assert max(settings.hidden_size for settings in drawn) > 200
    assert drawn[:8] == draw_settings(model, "BIOE-BD", seed=3)


def test_there_are_no_more_draws_than_settings():
    refused(ConfigError, "fewer trials", draw_settings, "bert", "BIO-TD", 301, seed=0)
    refused(ConfigError, "at least one trial; got 0", draw_settings, "bert", "BIO-TD", 0, seed=0)
    with pytest.raises(ConfigError, match="only 0; none fits an input of width 20"):
        draw_settings("bert-bilstm", "BIO-TD", 1, seed=0, width=20)
    refused(ConfigError, "one of learned-word", draw_settings, "lstm", "BIO-TD", seed=0)


def test_draws_for_another_width_have_heads_that_divide_it():
    drawn = draw_settings("bert-transformer", "BIO-TD", 40, seed=0, width=6)
    assert {settings.heads for settings in drawn} == {1, 2}


def test_parts_of_a_search_are_read_once_and_checked_before_training(document, tmp_path):
    found = search_taggers(
        *(iter([document]) for _ in range(3)),
        "learned-word",
        "BIO-TD",
        seed=0,
        n_trials=2,
        max_epochs=1,
        lemmatize=False,
    )
    assert len(found.to_frame()) == 2
    found.save(tmp_path / "found")
    assert ld.read(tmp_path / "found").predict([document]) == found.best.predict([document])
    assert pd.read_csv(tmp_path / "found/trials.csv")["learning_rate"].equals(found.trials["learning_rate"])
    for wrong in ([], [document, document]):
        with pytest.raises(DataError, match="a name of its own, that decide which trial is best"):
            search_taggers([], [], wrong, "learned-word", "BIO-TD", seed=0)


def test_a_search_keeps_the_trial_that_is_best_on_its_own_part(document, bert):
    other = make_document("2", document.tokens[:10], document.parallelisms[:1])
    found = search_taggers(
        [document], [document], [other], "bert", "BIO-TD", seed=2, n_trials=3, bert=bert, max_epochs=4
    )
    trials = found.to_frame()
    assert trials["best"].sum() == 1
    best = trials[trials["best"]].iloc[0]
    assert best["optimization"] == trials["optimization"].max()
    assert found.best.settings.learning_rate == best["learning_rate"]
    frame = score_parallelisms({"best": found.best.predict([other])}, {"2": other}).to_frame().set_index("metric")
    assert frame.at["MBAWO", "f"] == best["optimization"]
    assert "trial" in found.summary()
    refused(DataError, "section without words", found.best.tag, [["we"], []])


def test_a_search_encodes_every_section_once_and_trains_as_without(document, bert, monkeypatch):
    encoded, encode = [], FrozenBert.encode
    monkeypatch.setattr(FrozenBert, "encode", lambda self, ids: encoded.append(tuple(ids)) or encode(self, ids))
    other = make_document("2", document.tokens[:10], document.parallelisms[:1])
    options = {"seed": 2, "bert": bert, "max_epochs": 2}
    found = search_taggers([document], [document], [other], "bert", "BIO-TD", n_trials=4, **options)
    assert found.to_frame()["blending"].nunique() > 1
    assert len(encoded) == len(set(encoded)) == 3  # the section of the one is a section of the other
    alone = train_tagger([document], [document], found.best.settings, **options)
    for name, weights in alone.network.state_dict().items():
        assert torch.equal(weights, found.best.network.state_dict()[name])
    assert alone.predict([other]) == found.best.predict([other])
    encoded.clear()
    found.best.predict([other, document])
    assert len(encoded) == 4  # nothing is kept after the search


@pytest.mark.parametrize(("name", "model"), [("small-tagger", "learned-word"), ("bert-tagger", "bert")])
def test_the_examples_train(name, model, document, bert):
    settings = read_settings(Path(__file__).parents[2] / "examples" / f"{name}.toml")
    own = {"bert": bert} if model == "bert" else {}
    tagger = train_tagger([document], [document], settings, seed=0, max_epochs=1, singletons=False, **own)
    assert tagger.settings.model == model


WRONG = {
    "wider than its input": ({"hidden_size": 10}, r"at most the width of its input: 10 > 8"),
    "odd": ({"hidden_size": 7}, "even"),
    "unknown": ({"hiden_size": 7}, "unknown 'hiden_size'"),
    "superfluous": ({"heads": 2}, "has no heads"),
    "missing": ({"depth": None}, "needs depth"),
    "of another kind": ({"blending": "mean"}, "has no blending"),
    "rate": ({"learning_rate": -1.0}, "learning_rate"),
}


@pytest.mark.parametrize("case", WRONG)
def test_settings_that_do_not_fit_are_refused(case):
    changed, message = WRONG[case]
    refused(ConfigError, message, _settings, "learned-word", **changed)


def test_sizes_are_checked_against_vectors(document, vectors, bert):
    with pytest.raises(ConfigError, match="at most the width of its input: 6 > 4"):
        train_tagger(
            [document], [document], _settings("word2vec", hidden_size=6), seed=0, vectors=vectors, lemmatizer=str
        )
    with pytest.raises(ConfigError, match="heads must divide"):
        train_tagger([document], [document], _settings("bert-transformer", heads=3), seed=0, bert=bert)
    with pytest.raises(ConfigError, match="needs vectors"):
        train_tagger([document], [document], _settings("word2vec"), seed=0, lemmatizer=str)
    with pytest.raises(ConfigError, match="takes no bert"):
        train_tagger([document], [document], _settings("learned-word"), seed=0, bert=bert)
    refused(DataError, "needs documents", train_tagger, [], [document], _settings("learned-word"), seed=0)


def test_a_tagger_whose_vectors_have_changed_is_not_read(document, vectors, tmp_path, request):
    copy = tmp_path / "copy.txt"
    copy.write_bytes(vectors.read_bytes())
    tagger = _train(document, "word2vec", request, vectors=copy, max_epochs=1)
    tagger.save(tmp_path / "tagger")
    copy.write_text(copy.read_text().replace("3", "2"))
    refused(CheckpointError, "its content differs", ld.read, tmp_path / "tagger", lemmatizer=str.lower)
    assert ld.read(tmp_path / "tagger", vectors=vectors, lemmatizer=str.lower).source.path == vectors
    refused(ConfigError, "a function as lemmatizer", ld.read, tmp_path / "tagger", vectors=vectors)
    refused(CheckpointError, "cannot be read", ld.read, tmp_path)


def test_a_parallelism_may_cross_sections(document):
    from langdiff.parallelism.taggers.words import tagged_sections, with_tags
    from langdiff.parallelism.tagging import TaggingScheme

    crossing = make_document("1", document.tokens, [Parallelism(((0, 2), (13, 15)))], document.sections)
    scheme = TaggingScheme("BIOMJ", "TD")
    sections = tagged_sections([crossing], scheme)
    assert [len(each.words) for each in sections] == [10, 6, 9]
    assert with_tags(document, [each.tags for each in sections], scheme) == crossing
