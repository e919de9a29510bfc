"""Products are of single precision whatever the user's switches say, and these are as they were afterwards."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from threading import Barrier

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from langdiff.lm import HuggingFaceLM, Scoring, train_language_model
from langdiff.lm.device import _write, single_precision
from langdiff.lm.lstm.model import LanguageModel, build_network
from langdiff.lm.marginal import marginal_surprisal
from langdiff.lm.units.alphabet import Alphabet
from langdiff.lm.units.bpe import BPEUnits
from tests.lm.conftest import verses

# what computes with the mantissas of float32, on the CPU, under the names of PyTorch's operators
PRODUCTS = {"mm", "addmm", "bmm", "baddbmm", "matmul", "linear", "lstm", "lstm_cell", "mkldnn_rnn_layer"}
PRODUCTS |= {"mkldnn_rnn_layer_backward", "_scaled_dot_product_flash_attention_for_cpu"}
PRODUCTS |= {"_scaled_dot_product_flash_attention_for_cpu_backward"}

# how users allow less; older and newer switches, also mixed
ALLOWED = [
    "pass",
    "torch.backends.fp32_precision = 'ieee'",
    "torch.backends.fp32_precision = 'tf32'",
    "torch.backends.fp32_precision = 'bf16'",
    "torch.set_float32_matmul_precision('high')",
    "torch.set_float32_matmul_precision('medium')",
    "torch.backends.cuda.matmul.allow_tf32 = True",
    "torch.backends.cudnn.allow_tf32 = False",
    "torch.backends.cudnn.allow_tf32 = True; torch.backends.cudnn.rnn.fp32_precision = 'ieee'",
    "torch.backends.cudnn.deterministic = True; torch.backends.cudnn.benchmark = True",
    "torch.set_float32_matmul_precision('high'); torch.backends.cuda.matmul.fp32_precision = 'none'",
    "torch.set_float32_matmul_precision('medium'); torch.backends.fp32_precision = 'ieee'",
    "torch.backends.cuda.matmul.fp32_precision = 'tf32'; torch.backends.cudnn.fp32_precision = 'ieee'",
    "torch.backends.mkldnn.set_flags(_fp32_precision='bf16'); torch.backends.mkldnn.matmul.fp32_precision = 'tf32'",
]
# what the user may set later, and see inherited or not
LATER = [
    "pass",
    "torch.backends.cudnn.fp32_precision = 'ieee'",
    "torch.backends.cudnn.fp32_precision = 'none'",
    "torch.backends.fp32_precision = 'tf32'",
    "torch.backends.fp32_precision = 'none'",
    "torch.set_float32_matmul_precision('highest')",
    "torch.backends.cudnn.allow_tf32 = True",
]


def switches():
    """Read all switches of the precision of float32."""
    cuda, cudnn, mkldnn = torch.backends.cuda, torch.backends.cudnn, torch.backends.mkldnn
    places = [torch.backends, cudnn, cudnn.conv, cudnn.rnn, cuda.matmul]
    places += [mkldnn, mkldnn.conv, mkldnn.rnn, mkldnn.matmul]
    return [place.fp32_precision for place in places] + [read(torch.get_float32_matmul_precision)]


IEEE = ["ieee"] * 9 + ["highest"]


def read(older_switch):
    """Read a switch that raises if newer ones contradict it."""
    try:
        return older_switch()
    except RuntimeError as error:
        return str(error)


def everything():
    """Read all switches, and what else of the user's such a guard might change."""
    cudnn = torch.backends.cudnn
    older = [read(lambda: cudnn.allow_tf32), read(lambda: torch.backends.cuda.matmul.allow_tf32)]
    return [*switches(), *older, cudnn.enabled, cudnn.benchmark, cudnn.deterministic, torch.backends.mkldnn.enabled]


def seen_by_user(allowed, guarded):
    """Return the switches inside, and what the user sees afterwards, step by step."""
    exec(allowed)
    inside = None
    if guarded:
        try:
            with single_precision(tf32=True):
                pass
            with single_precision():
                with single_precision(tf32=True):
                    pass
                inside = switches()
                raise KeyError  # restored after exceptions too
        except KeyError:
            pass
    after = []
    for line in LATER:
        exec(line)
        after.append(everything())
    return inside, after


def in_fresh_processes():
    """Write what is seen with and without the guard, each in a process whose switches nobody has touched."""
    tasks = [(allowed, guarded) for allowed in ALLOWED for guarded in (False, True)]
    with get_context("fork").Pool(1, maxtasksperchild=1) as pool:
        sys.stdout.write(json.dumps(pool.starmap(seen_by_user, tasks, chunksize=1)))


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_switches_are_restored_as_if_they_had_not_been_touched():
    code = "from tests.lm.test_device import in_fresh_processes as f; f()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    for allowed, without, guarded in zip(ALLOWED, seen[::2], seen[1::2], strict=True):
        assert guarded[0] == IEEE, allowed
        assert guarded[1] == without[1], allowed


class Watch(TorchDispatchMode):
    """Notes the switches at each product of single precision."""

    def __init__(self):
        super().__init__()
        self.seen = {}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func._schema.name.removeprefix("aten::")
        if name in PRODUCTS:
            self.seen.setdefault(name, []).append(switches())
        return func(*args, **kwargs or {})


@pytest.fixture(params=["torch.set_float32_matmul_precision('high')", "torch.backends.fp32_precision = 'tf32'"])
def watch(request):
    """Watch the switches where the user allows TF32."""
    before = switches()
    exec(request.param)
    allowed = switches()
    watch = Watch()
    try:
        with watch:
            yield watch.seen
        assert switches() == allowed != before
    finally:
        torch.set_float32_matmul_precision("highest")
        for place in (torch.backends, torch.backends.cuda.matmul, torch.backends.mkldnn.matmul):
            place.fp32_precision = "none"
    assert switches() == before


def all_exact(seen, least=1):
    states = [state for each in seen.values() for state in each]
    assert len(states) >= least
    return all(state == IEEE for state in states)


KINDS = {
    "LSTM": {},
    "residual LSTM": {"ngram_orders": (1, 2)},
    "Transformer": {"architecture": "transformer", "heads": 2},
    "residual Transformer": {"architecture": "transformer", "heads": 2, "ngram_orders": (1, 2)},
    "stream": {"context": "stream", "bptt": 12, "batch_units": 48, "schedule": "steps", "decay_epochs": (1,)},
    "bfloat16": {"half": "bfloat16"},
}
SMALL = {"epochs": 1, "layers": 1, "dropout_embedding": 0.0, "weight_drop": 0.0}


@pytest.mark.parametrize("kind", KINDS)
def test_training_and_scoring(watch, tiny_recipe, kind):
    recipe = replace(tiny_recipe, name=kind, **SMALL, **KINDS[kind])
    texts = verses("eng", 60, 0)
    model = train_language_model(texts, texts[:9], recipe=recipe, device="cpu", progress=False, seed=0)
    assert all_exact(watch, least=10)  # forward and backward
    watch.clear()
    model.surprisal(texts[:3])
    model.symbol_bits(texts[:3], boundaries=True)
    assert all_exact(watch, least=2)
    if kind == "stream":
        watch.clear()
        model.surprisal(texts[:3], scoring=Scoring(carried=True))
        assert all_exact(watch)


def test_marginal_surprisal(watch, tiny_bpe_recipe):
    texts = ["ab aab", "ab abb"] * 9
    units = BPEUnits.train(texts, Alphabet.from_texts(texts, min_count=1), ratio=1.0)
    network = build_network(tiny_bpe_recipe, units.size + 1, torch.Generator().manual_seed(1)).eval()
    model = LanguageModel(
        recipe=tiny_bpe_recipe, alphabet=units.alphabet, units=units, network=network, history=(), seed=0
    )
    marginal_surprisal(model, ["abb"], samples=10, seed=0)
    assert all_exact(watch)


def test_models_of_the_transformers_library(watch):
    tiny = pytest.importorskip("tests.lm.external.tiny_gpt")
    tokenizer = tiny.make_tokenizer()
    model = HuggingFaceLM(tiny.make_gpt(tokenizer), tokenizer, device="cpu")
    model.surprisal(verses("eng", 3, 0))
    assert all_exact(watch, least=4)


def test_tf32_is_for_training_on_cuda_alone():
    before = switches()
    with single_precision(tf32=True):
        assert torch.backends.cuda.matmul.fp32_precision == torch.backends.cudnn.rnn.fp32_precision == "tf32"
        assert torch.backends.mkldnn.matmul.fp32_precision == torch.backends.mkldnn.rnn.fp32_precision == "ieee"
        assert torch.get_float32_matmul_precision() == "high"  # the older switch agrees
        with single_precision():  # scoring meanwhile, perhaps in another thread
            assert switches() == IEEE
            with single_precision(tf32=True):
                assert switches() == IEEE
        assert torch.backends.cuda.matmul.fp32_precision == "tf32"
    assert switches() == before


def test_threads_share_the_switches():
    """Of two computations that overlap, the one that began first ends first: the user's switches come back."""
    begun, ended = Barrier(2, timeout=60), Barrier(2, timeout=60)

    def first():
        with single_precision():
            begun.wait()
        ended.wait()

    def second():
        begun.wait()
        with single_precision():
            ended.wait()
            return switches()

    before = switches()
    torch.backends.cudnn.fp32_precision = "tf32"
    try:
        with ThreadPoolExecutor(2) as pool:
            one, two = pool.submit(first), pool.submit(second)
            one.result()
            assert two.result() == IEEE
        assert torch.backends.cudnn.fp32_precision == "tf32"
    finally:
        torch.backends.cudnn.fp32_precision = "none"
    assert switches() == before


def each_switch_alone():
    """Set every switch, in a process of its own, as cuDNN's cannot be set back; check what changes."""
    backends = {name: place for name, place in vars(torch.backends.m).items() if hasattr(place, "fp32_precision")}
    assert {name for name in backends if name.islower()} == {"cudnn", "mkldnn"}
    cuda, cudnn, mkldnn = torch.backends.cuda, torch.backends.cudnn, torch.backends.mkldnn
    below = {torch.backends: range(9), cudnn: range(1, 5), mkldnn: (5, 6, 7, 8)}  # as `switches` numbers them
    alone = {2: cudnn.conv, 3: cudnn.rnn, 4: cuda.matmul, 6: mkldnn.conv, 7: mkldnn.rnn, 8: mkldnn.matmul}
    for place, own in [*below.items(), *((place, (number,)) for number, place in alone.items())]:
        before = switches()[:9]
        _write(place, "tf32" if place.fp32_precision != "tf32" else "ieee")
        changed = {number for number, now in enumerate(switches()[:9]) if now != before[number]}
        assert changed, place
        assert changed <= set(own), place


def test_the_switches_of_torch_are_those_that_are_set():
    """Fails when torch has another switch, or when one sets what is not below it."""
    code = "from tests.lm.test_device import each_switch_alone as f; f()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
