import copy
import sys

import numpy as np
import pandas as pd
import pytest
import torch
from numpy.testing import assert_allclose

import langdiff as ld
from langdiff.errors import CheckpointError, ConfigError, LangdiffWarning, MissingExtraError, TrainingError
from langdiff.lm import HuggingFaceLM
from tests.cli.conftest import langdiff as langdiff
from tests.helpers import refused
from tests.lm.conftest import verses
from tests.lm.external.tiny_gpt import WINDOW, make_gpt, make_tokenizer, sharpened, tokenizers, transformers

BATCHING = 1e-4  # bits a text: what the batch may move
SINGLE_PRECISION = 1e-3  # bits a text: float32 against float64
TEXTS = [*verses("eng", 20, 5), *verses("ell", 4, 6), "a", "<s> is text</s>", " two  spaces ", "the cat " * 40]


@pytest.fixture(scope="module")
def tokenizer():
    return make_tokenizer()


@pytest.fixture(scope="module")
def gpt(tokenizer):
    return make_gpt(tokenizer)


@pytest.fixture(scope="module")
def folder(gpt, tokenizer, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "tiny-gpt"
    gpt.save_pretrained(path)
    tokenizer.save_pretrained(path)
    return path


@torch.no_grad()
def one_by_one(model, tokenizer, text, window, overlap):
    """Score each token on its own, in double precision, with no batch and no padding."""
    symbols = [*tokenizer.backend_tokenizer.encode(text, add_special_tokens=False).ids, 1]
    bits = []
    for t, symbol in enumerate(symbols):
        # the first window reads `window` symbols, each further one as many less the overlap
        begin = 0 if t < window else (1 + (t - window) // (window - overlap)) * (window - overlap)
        context = torch.tensor([[0, *symbols[begin:t]]])
        logits = model(input_ids=context).logits[0, -1]
        bits.append(float(torch.logsumexp(logits, 0) - logits[symbol]) / np.log(2))
    return sum(bits), bits[-1]


@pytest.mark.parametrize("overlap", [pytest.param(None, marks=pytest.mark.slow), 0, 11])
def test_bits_against_one_token_at_a_time_in_double_precision(gpt, tokenizer, overlap):
    texts = [text for text in TEXTS if "<s>" not in text]  # the oracle's tokenizer takes it for special
    frame = HuggingFaceLM(gpt, tokenizer, overlap=overlap).surprisal(texts)
    double = copy.deepcopy(gpt).double()
    common = WINDOW // 2 if overlap is None else overlap
    expected = np.array([one_by_one(double, tokenizer, text, WINDOW, common) for text in texts])
    assert_allclose(frame["bits"], expected[:, 0], atol=SINGLE_PRECISION)
    assert_allclose(frame["eos_bits"], expected[:, 1], atol=SINGLE_PRECISION)
    assert frame["units"].max() > 3 * WINDOW  # some texts are read through several windows
    assert (frame["units"] < WINDOW).any()
    assert expected[:, 0].std() > 10


def test_a_batch_of_32_gives_what_a_batch_of_1_gives(gpt, tokenizer):
    alone, together = (HuggingFaceLM(gpt, tokenizer, batch_size=n).surprisal(TEXTS) for n in (1, 32))
    pd.testing.assert_frame_equal(alone, together, check_exact=False, atol=BATCHING, rtol=0)


def test_a_shorter_window_sees_less(gpt, tokenizer):
    text = ["the cat sat on a mat and the dog ran far from home"]
    whole, parts = (HuggingFaceLM(gpt, tokenizer, max_length=n).surprisal(text) for n in (WINDOW, 4))
    assert abs(whole["bits"][0] - parts["bits"][0]) > 0.1
    assert whole["units"][0] == parts["units"][0]


def test_special_tokens_written_out_are_text(gpt, tokenizer):
    frame = HuggingFaceLM(gpt, tokenizer).surprisal(["<s>"])
    assert frame["units"][0] == 3
    assert frame["characters"][0] == 3


def test_a_folder_gives_what_the_model_gives(folder, gpt, tokenizer):
    model = HuggingFaceLM(folder, device="cpu")
    assert model.surprisal(TEXTS).equals(HuggingFaceLM(gpt, tokenizer).surprisal(TEXTS))
    assert repr(model) == f"HuggingFaceLM tiny-gpt: {len(tokenizer) + 3} tokens, windows of 16, 8 in common"


def test_a_model_without_limit_reads_texts_whole(tokenizer):
    config = transformers.BloomConfig(vocab_size=len(tokenizer), hidden_size=16, n_layer=1, n_head=2)
    bloom = sharpened(transformers.BloomForCausalLM(config))
    model = HuggingFaceLM(bloom, tokenizer)
    texts = ["the cat " * 60, "a mat"]
    expected = [one_by_one(copy.deepcopy(bloom).double(), tokenizer, text, 10**6, 0)[0] for text in texts]
    assert_allclose(model.surprisal(texts)["bits"], expected, atol=SINGLE_PRECISION)
    assert "no limit" in repr(model)


def test_table_of_a_multitext(gpt, tokenizer):
    multitext = ld.read_frame(pd.DataFrame({"eng": ["a cat", "a dog"], "ell": ["ο γάτος", None]}, index=["1", "2"]))
    table = ld.surprisals_of(HuggingFaceLM(gpt, tokenizer), multitext, lm="tiny")
    assert repr(table) == "Surprisals by tiny: 2 intents × 2 editions, 1 of 4 cells missing"
    assert table.characters.loc["1"].tolist() == [5, 7]
    assert table.units["eng"].tolist() == [len(tokenizer.tokenize(text)) for text in ("a cat", "a dog")]
    assert (table.eos_bits.loc["1"] < table.bits.loc["1"]).all()


def test_a_tokenizer_that_loses_text_is_a_warning(gpt, tokenizer):
    lossy = copy.deepcopy(tokenizer)
    lossy.backend_tokenizer.normalizer = tokenizers.normalizers.Lowercase()
    with pytest.warns(LangdiffWarning, match="cannot give back 1 of 2 texts: the first is intent 1, 'A Cat'"):
        HuggingFaceLM(gpt, lossy).surprisal(["a cat", "A Cat"])


def test_a_tokenizer_that_does_not_see_a_first_space_is_a_warning(gpt, tokenizer, recwarn):
    raw = tokenizers.Tokenizer(tokenizers.models.BPE())
    raw.pre_tokenizer, raw.decoder = tokenizers.pre_tokenizers.Metaspace(), tokenizers.decoders.Metaspace()
    raw.train_from_iterator(["a cat"], tokenizers.trainers.BpeTrainer(special_tokens=["<s>", "</s>"]))
    blind = transformers.PreTrainedTokenizerFast(tokenizer_object=raw, bos_token="<s>", eos_token="</s>")
    for seeing in (tokenizer, blind):  # texts without a first space are no matter
        HuggingFaceLM(gpt, seeing).surprisal(["a cat", " a cat"][: 1 + (seeing is tokenizer)])
    assert not [each for each in recwarn if "cannot tell" in str(each.message)]
    with pytest.warns(LangdiffWarning, match="cannot tell 'a cat' from ' a cat': of 1 texts, the first of them intent"):
        assert HuggingFaceLM(gpt, blind).surprisal(["a cat", " a cat"])["bits"].nunique() == 1


def test_no_start_or_end_token(gpt, tokenizer):
    bare = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer.backend_tokenizer)
    refused(ConfigError, r"no bos_token.*by start_token\.", HuggingFaceLM, gpt, bare)
    refused(ConfigError, r"no eos_token.*by end_token\.", HuggingFaceLM, gpt, bare, start_token="<s>")
    with pytest.raises(ConfigError, match="end_token='<eos>': not in the vocabulary"):
        HuggingFaceLM(gpt, bare, start_token="<s>", end_token="<eos>")
    named = HuggingFaceLM(gpt, bare, start_token="<s>", end_token="</s>")
    assert named.surprisal(TEXTS).equals(HuggingFaceLM(gpt, tokenizer).surprisal(TEXTS))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"batch_size": 0}, "batch_size must be at least 1"),
        ({"max_length": 17}, "at most 16, the positions of GPT2LMHeadModel; got 17"),
        ({"max_length": 0}, "at least 1"),
        ({"overlap": 16}, r"less than max_length \(16\), got 16"),
        ({"overlap": -1}, "overlap must be from 0"),
        ({"tokenizer": None}, "give the tokenizer"),
        ({"device": "warp9"}, "'warp9' cannot be used"),
        ({"dtype": "int8"}, "dtype='int8': use one of float32, bfloat16, float16"),
    ],
)
def test_bad_settings(gpt, tokenizer, settings, message):
    refused(ConfigError, message, HuggingFaceLM, gpt, **{"tokenizer": tokenizer} | settings)


def test_models_that_cannot_be_scored(gpt, tokenizer):
    config = transformers.BertConfig(
        vocab_size=len(tokenizer), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
    )
    with pytest.raises(ConfigError, match="BertForMaskedLM is not a causal language model"):
        HuggingFaceLM(sharpened(transformers.BertForMaskedLM(config)), tokenizer)
    broken = copy.deepcopy(gpt)
    model = HuggingFaceLM(broken, tokenizer)
    with torch.no_grad():
        broken.transformer.wpe.weight[3] = float("nan")
    with pytest.raises(TrainingError, match="no finite surprisal to intent 'b'"):
        model.surprisal(pd.Series({"b": "the cat sat on a mat"}))


def test_a_tokenizer_of_another_model(gpt, tokenizer):
    larger = copy.deepcopy(tokenizer)
    larger.add_tokens([f"the{i}" for i in range(20)])
    with pytest.raises(ConfigError, match="do not belong together"):
        HuggingFaceLM(gpt, larger).surprisal(["the19"])


def test_no_texts_no_rows(gpt, tokenizer):
    assert HuggingFaceLM(gpt, tokenizer).surprisal([]).empty


def test_folders_that_hold_no_model(folder, tmp_path):
    refused(CheckpointError, r"gpt2: no such folder.*nothing is downloaded", HuggingFaceLM, "gpt2")
    refused(CheckpointError, "cannot be loaded by AutoModelForCausalLM", HuggingFaceLM, tmp_path)
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])
    refused(CheckpointError, "cannot be loaded by AutoModelForCausalLM", HuggingFaceLM, tmp_path)


def test_without_transformers(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    refused(MissingExtraError, r"pip install 'langdiff\[hf\]'", HuggingFaceLM, folder)


def test_nothing_is_printed(folder, capfd):
    HuggingFaceLM(folder).surprisal(TEXTS)
    assert capfd.readouterr() == ("", "")


@torch.no_grad()
def test_in_half_precision_logarithms_are_in_single(gpt, tokenizer, folder):
    half = copy.deepcopy(gpt).bfloat16()
    text = "the cat"
    bits = HuggingFaceLM(half, tokenizer).surprisal([text])["bits"].item()
    symbols = [0, *tokenizer.backend_tokenizer.encode(text, add_special_tokens=False).ids, 1]
    logits = half(input_ids=torch.tensor([symbols[:-1]])).logits[0].double()
    expected = (logits.logsumexp(1) - logits[torch.arange(len(symbols) - 1), symbols[1:]]).sum().item() / np.log(2)
    assert bits == pytest.approx(expected, rel=1e-6)
    whole = HuggingFaceLM(gpt, tokenizer).surprisal([text])["bits"].item()
    assert 0 < abs(bits - whole) < 0.05 * whole
    read = HuggingFaceLM(folder, dtype="bfloat16", device="cpu")
    assert read.surprisal([text])["bits"].item() == pytest.approx(bits, rel=1e-6)
    assert "bfloat16" in repr(read)


def test_batches_that_do_not_fit_are_halved_and_remembered(gpt, tokenizer, monkeypatch, caplog):
    expected = HuggingFaceLM(gpt, tokenizer).surprisal(TEXTS)
    model = HuggingFaceLM(gpt, tokenizer)
    sizes, logits = [], model._logits

    def small(inputs, real):
        sizes.append(inputs.numel())
        if inputs.numel() > 40:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory")
        return logits(inputs, real)

    monkeypatch.setattr(model, "_logits", small)
    found = model.surprisal(TEXTS)
    assert_allclose(found["bits"], expected["bits"], atol=BATCHING)
    assert max(sizes) > 40
    assert "out of memory (CUDA out of memory): scoring at most" in caplog.text
    sizes.clear()
    assert_allclose(model.surprisal(TEXTS)["bits"], expected["bits"], atol=BATCHING)
    assert max(sizes) <= 40  # from the start

    monkeypatch.setattr(model, "_logits", lambda *_: (_ for _ in ()).throw(torch.cuda.OutOfMemoryError("none left")))
    refused(TrainingError, "none left", model.surprisal, ["a"])


@pytest.fixture
def multitext():
    texts = {f"e{k}": verses("eng", 6, k) for k in range(5)}
    texts["e1"][2] = None
    return ld.read_frame(pd.DataFrame(texts, index=[f"verse {i}" for i in range(6)]))


def test_an_interrupted_scoring_goes_on_with_the_same_bits(gpt, tokenizer, multitext, tmp_path, monkeypatch):
    model = HuggingFaceLM(gpt, tokenizer)
    expected = ld.surprisals_of(model, multitext, lm="gpt", progress=False)
    scored, surprisal = [], model.surprisal

    def interrupted(texts):
        if len(scored) == 3:
            raise KeyboardInterrupt
        scored.append(len(texts))
        return surprisal(texts)

    monkeypatch.setattr(model, "surprisal", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ld.surprisals_of(model, multitext, lm="gpt", cache=tmp_path, progress=False)
    assert scored == [6, 5, 6]
    damaged = sorted(tmp_path.iterdir())[0]
    damaged.write_text(damaged.read_text().replace("1", "2"))

    monkeypatch.setattr(model, "surprisal", lambda texts: scored.append(len(texts)) or surprisal(texts))
    again = ld.surprisals_of(model, multitext, lm="gpt", cache=tmp_path, progress=False)
    assert len(scored) == 3 + 2 + 1  # the two others, and the damaged one
    for name in ("bits", "eos_bits", "characters", "bytes"):
        pd.testing.assert_frame_equal(getattr(again, name), getattr(expected, name), check_exact=True)

    other = HuggingFaceLM(gpt, tokenizer, overlap=3)
    assert other.identity != model.identity == HuggingFaceLM(gpt, tokenizer).identity
    assert HuggingFaceLM(copy.deepcopy(gpt).bfloat16(), tokenizer).identity != model.identity
    ld.surprisals_of(other, multitext, cache=tmp_path, progress=False)
    assert len(list(tmp_path.iterdir())) == 2 * 5


def test_a_cache_needs_to_know_the_model(multitext, tmp_path):
    class Nameless:
        def surprisal(self, texts):
            return [8.0 * len(text) for text in texts]

    with pytest.raises(ConfigError, match=r"attribute identity.*Nameless has none"):
        ld.surprisals_of(Nameless(), multitext, cache=tmp_path, progress=False)


def test_the_command_scores_with_a_folder(langdiff, folder, multitext, tmp_path):
    texts = {edition: multitext.text(edition) for edition in multitext.editions}
    numbered = ld.read_frame(pd.DataFrame(texts).set_axis([f"4000100{i}" for i in range(1, 7)]))
    ld.write_multitext(numbered, tmp_path / "corpus")
    out = tmp_path / "surprisals.csv"
    arguments = ["score", "--hf", folder, tmp_path / "corpus", "--out", out, "--device", "cpu"]
    assert langdiff(*arguments, "--cache", tmp_path / "cache", "--json").code == 0
    expected = ld.surprisals_of(HuggingFaceLM(folder, device="cpu"), numbered, progress=False)
    found = ld.read_surprisals(out).bits
    np.testing.assert_array_equal(found[list(expected.editions)], expected.bits)
    assert len(list((tmp_path / "cache").iterdir())) == 5
    refused = langdiff("score", folder, tmp_path / "corpus", "--out", out, "--dtype", "bfloat16")
    assert refused.code == 2
    assert "--dtype is for --hf: give that, too" in refused.said
    usual = (["--lm", "char-small"], ["--max-replaced", "0.05"])  # also where they are what is usual
    for ours in (["--lm", "bpe-small"], ["--scoring", "unpriced"], ["--max-replaced", "0.2"], *usual):
        assert f"{ours[0]} is of no use with --hf" in langdiff(*arguments, *ours).said


def test_bits_of_a_training_are_written_and_read(gpt, tokenizer, tmp_path):
    path = tmp_path / "bits.jsonl"
    texts = {"eng": verses("eng", 20, 4), "ell": verses("ell", 20, 4)}
    multitext = ld.read_frame(pd.DataFrame({name: pd.Series(list(each)) for name, each in texts.items()}))
    callback = ld.lm.TrainingBits(multitext, tokenizer, path)
    gpt.train()
    for step in (10, 20, 10):  # a run that was resumed
        written = callback(gpt, step)
    assert gpt.training
    gpt.eval()
    found = ld.lm.read_training(path)
    assert list(found) == [10, 20]
    assert_allclose(found[10].bits.to_numpy(), written.bits.to_numpy())
    assert found[10].bytes["eng"].tolist() == written.bytes["eng"].tolist()
