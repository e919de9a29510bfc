"""Many languages on one GPU: one network after the other with cuDNN, several processes, one program for several.

Run ``python benchmarks/gpu.py --out gpu.md`` where there is a CUDA device (at most eight minutes), or
``--device cpu --tiny`` to see that everything runs. The most informative measurements come first; the table
so far is written after each, and one that fails, as for want of memory or of Triton, is a line that says why.

Processes share a GPU by turns, or side by side where NVIDIA's Multi-Process Service runs: start it before with
``nvidia-cuda-mps-control -d``, and end it with ``echo quit | nvidia-cuda-mps-control``.
"""

import argparse
import json
import os
import string
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F

from langdiff import Parts, read_frame
from langdiff.base.io import write_text
from langdiff.lm import RECIPES, Recipe, compute_surprisals
from langdiff.lm.jobs.folder import job_folder
from langdiff.lm.jobs.job import silent
from langdiff.lm.jobs.logs import LOG, read_log
from langdiff.lm.lstm.gradients import accumulate_gradients, has_bf16
from langdiff.lm.lstm.loop import Demand, EncodedPart, EpochLoop, Randomness, make_optimizer
from langdiff.lm.lstm.network import AWDLSTM
from langdiff.lm.lstm.scoring import score

SYMBOLS = 67
LETTERS = string.ascii_letters + string.digits + ",.;:"  # the symbols but the end
MPS_PIPE = "CUDA_MPS_PIPE_DIRECTORY"  # where a process looks for the Multi-Process Service
EDITIONS, CHARACTERS = 106, 2.4e6  # the paper's Bibles, and characters in each
# embedding and hidden size, layers; the last layer is as wide as the embedding, so that S has no hidden size
SIZES = {"S": (64, 64, 1), "M": (128, 512, 2), "L": (200, 1000, 3)}
PADDED = {"L": (256, 1024, 3)}
LIKE = 2  # times as many editions in training as are computed at once
# (size or recipe, epochs, hours allowed, editions side by side)
PROMISES = (("L", 500, 8.0), ("char-fast", 50, 1.0), ("M", 50, 1 / 6))
EPOCHS = 4  # of each process
VERSES = {"L": 1_000}  # from which a process learns, so that an epoch takes seconds
OTHER_VERSES = 6_000
BY_LENGTH = 5  # times as long a warm-up: every shape of batch is captured once, which a whole training hardly feels
WAYS = ("one by one", "processes", "grouped")
WANTED = {"S": 4.0, "M": 4.0, "L": 2.0}  # grouped against the best without


@dataclass(frozen=True)
class Setting:
    """What is the same for all measurements."""

    device: torch.device
    tiny: bool
    warm: float  # seconds
    seconds: float

    def recipe(self, size: str, *, bf16: bool = True, batch: int = 128) -> Recipe:
        """Return the recipe of a size, or of its own name, small where everything is."""
        if size in RECIPES:
            recipe = replace(RECIPES[size], bf16=bf16)
            return replace(recipe, embedding_size=12, batch_units=96) if self.tiny else recipe
        embedding, hidden, layers = SIZES[size]
        changes = {"embedding_size": embedding, "hidden_size": hidden, "layers": layers, "batch_units": 150 * batch}
        if self.tiny:
            changes |= {"embedding_size": embedding // 8, "hidden_size": hidden // 20, "bptt": 10, "batch_units": 80}
        return replace(RECIPES["char-ptb"], name=size, bf16=bf16, **changes)

    def precision(self, recipe: Recipe) -> str:
        """Return in which precision a recipe trains here."""
        return "bf16" if recipe.bf16 and has_bf16(self.device.type) else "fp32"

    def text(self, verses: int = 30_000) -> EncodedPart:
        """Draw intents with the lengths of verses."""
        rng = np.random.default_rng(0)
        lengths = np.maximum(5, rng.lognormal(4.7, 0.45, 60 if self.tiny else verses)).astype(int)
        return EncodedPart([rng.integers(0, SYMBOLS - 1, n) for n in lengths], int(lengths.sum()))


@dataclass
class Row:
    """A line of the table."""

    what: str
    size: str
    precision: str
    rate: float | None = None  # characters per second, all editions together
    note: str = ""
    values: dict[str, float] = field(default_factory=dict)


def widths(sizes: tuple[int, int, int]) -> str:
    """Name a network by the width of its embedding and of each layer, as 128-512-128."""
    embedding, hidden, layers = sizes
    return "-".join(map(str, [embedding, *[hidden] * (layers - 1), embedding]))


def make_network(recipe: Recipe, seed: int = 0) -> AWDLSTM:
    options = {key: getattr(recipe, key) for key in ("embedding_size", "hidden_size", "layers", "weight_drop")}
    options |= {key: getattr(recipe, key) for key in recipe.__dataclass_fields__ if key.startswith("dropout_")}
    return AWDLSTM(SYMBOLS, **options, generator=torch.Generator().manual_seed(seed))


def make_trainer(recipe: Recipe, text: EncodedPart, device: torch.device, seed: int) -> EpochLoop:
    dev = EncodedPart(text.intents[:1], len(text.intents[0]))  # next to nothing: scoring is measured by itself
    randomness = Randomness.from_seed(seed, device)
    network = make_network(recipe, seed).to(device)
    return EpochLoop(network=network, recipe=recipe, train=text, dev=dev, randomness=randomness, report=silent)


def endless(trainer: EpochLoop) -> Iterator[Demand]:
    """Demand gradients for ever; whoever asks for the next has put them in place."""
    loss = None
    while True:
        epoch = trainer.epoch_by_demands()
        demand = next(epoch)
        while True:
            loss = yield demand
            try:
                demand = epoch.send(loss)
            except StopIteration:
                break


def wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def timed(
    setting: Setting,
    step: Callable[[], torch.Tensor | int],
    *,
    warm: float | None = None,
    begun: Callable[[], object] = int,
) -> float:
    """Return the characters per second of a step that returns how many it did; `begun` is told when time is taken."""
    warm = setting.warm if warm is None else warm
    wait(setting.device)
    start = time.perf_counter()
    steps = 0
    while steps < 3 or time.perf_counter() - start < warm:  # compiles and captures
        step()
        steps += 1
        wait(setting.device)
    begun()
    start = time.perf_counter()
    done: torch.Tensor | int = 0
    since = 0
    while True:
        done = done + step()
        since += 1
        if since % 4 == 0 or setting.tiny:  # the GPU works ahead of us, but not without end
            wait(setting.device)
            if time.perf_counter() - start > setting.seconds:
                return int(done) / (time.perf_counter() - start)


def grouped(setting: Setting, recipe: Recipe, size: int, *, plain: bool = False) -> Row:
    """Measure networks trained as one program, which is experimental."""
    from langdiff.lm.grouped.gradients import GroupedGradients
    from langdiff.lm.grouped.training import choose

    text = setting.text()
    lanes = size if recipe.context == "stream" else size * LIKE
    trainers = [make_trainer(recipe, text, setting.device, seed) for seed in range(lanes)]
    engine = GroupedGradients([trainer.network for trainer in trainers], recipe, size)
    engine._fused = engine._fused and not plain
    streams = [endless(trainer) for trainer in trainers]
    waiting = {number: next(stream) for number, stream in enumerate(streams)}

    def step() -> torch.Tensor:
        together = choose(waiting, engine.size)
        done = torch.stack([waiting[number].batch.lengths.sum() for number in together]).sum()
        losses = engine.accumulate([waiting[number] for number in together])
        for number, loss in zip(together, losses, strict=True):
            waiting[number] = streams[number].send(loss)
        return done

    known: list[int] = []
    warm = setting.warm * (1 if recipe.context == "stream" else BY_LENGTH)
    rate = timed(setting, step, warm=warm, begun=lambda: known.append(len(engine._programs)))
    kind = "separate kernels" if plain else "fused" if engine._fused else "no Triton: separate kernels"
    shapes = f"{len(engine._programs)} shapes, {len(engine._programs) - known[0]} of them new while time was taken"
    return Row(f"grouped, K = {engine.size}", recipe.name, setting.precision(recipe), rate, f"{kind}, {shapes}")


def alone(setting: Setting, recipe: Recipe) -> Row:
    """Measure training one edition after the other, as without grouping."""
    stream = endless(make_trainer(recipe, setting.text(), setting.device, 0))
    demand = next(stream)

    def step() -> torch.Tensor:
        nonlocal demand
        done = demand.batch.lengths.sum()
        demand = stream.send(accumulate_gradients(*demand[:-1]))
        return done

    return Row("one by one", recipe.name, setting.precision(recipe), timed(setting, step))


def processes(setting: Setting, recipe: Recipe, workers: int, *, mps: bool = False) -> Row:
    """Measure several processes on the device, each with a network of its own, as `compute_surprisals` trains them.

    The rate is the sum of those of the processes, without each one's first and last epoch, when the others may
    not have begun or have ended.
    """
    row = Row(f"processes, N = {workers}{', MPS' if mps else ''}", recipe.name, setting.precision(recipe))
    if mps and not (Path(os.environ.get(MPS_PIPE, "/tmp/nvidia-mps")) / "control").exists():
        row.note = "left out: NVIDIA's Multi-Process Service does not run here"
        return row
    recipe = replace(recipe, epochs=EPOCHS, patience=EPOCHS)
    text = setting.text(VERSES.get(recipe.name, OTHER_VERSES))
    parts = parts_of(text.intents, [f"edition{number}" for number in range(workers)])
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as cache, environment({} if mps else {MPS_PIPE: cache}):
        options = {"device": str(setting.device), "cache": cache, "progress": False, "seed": 0}
        compute_surprisals(parts, lm=recipe, workers=workers, **options)
        logs = [read_log(job_folder(Path(cache), edition, recipe.name) / LOG) for edition in parts.train.editions]
    row.rate = float(sum(np.mean([epoch["characters_per_second"] for epoch in log[1:-1]]) for log in logs))
    row.note = f"{time.perf_counter() - start:.0f} s in all, start and scoring included"
    return row


def parts_of(intents: Sequence[np.ndarray], editions: list[str]) -> Parts:
    """Write the same symbols as the text of several editions; few intents are for dev and test."""
    texts = ["".join(LETTERS[symbol] for symbol in intent) for intent in intents]
    multitext = read_frame(pd.DataFrame(dict.fromkeys(editions, texts)))
    train, dev, test = (multitext.intents[place] for place in (slice(20, None), slice(10), slice(10, 20)))
    return Parts(train=multitext.sel(intents=train), dev=multitext.sel(intents=dev), test=multitext.sel(intents=test))


@contextmanager
def environment(variables: dict[str, str]) -> Iterator[None]:
    """Set variables for the processes that the block starts."""
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def widened(network: AWDLSTM, embedding: int, hidden: int) -> AWDLSTM:
    """Return a larger network of the same function: zero weights keep what is added at zero, in training too."""
    sizes = [network.embedding.shape[1]] + [lstm.size for lstm in network._layers()]
    wide = AWDLSTM(
        len(network.embedding),
        embedding_size=embedding,
        hidden_size=hidden,
        layers=len(sizes) - 1,
        **{key: getattr(network, key) for key in vars(network) if key.startswith(("dropout_", "weight_drop"))},
    )
    with torch.no_grad():
        for parameter in wide.parameters():
            parameter.zero_()
        wide.embedding[:, : sizes[0]] = network.embedding
        wide.decoder_bias.copy_(network.decoder_bias)
        for mine, theirs in zip(wide._layers(), network._layers(), strict=True):
            for name, value in theirs.named_parameters():
                gates = value.view(4, theirs.size, -1)
                place = getattr(mine, name).view(4, mine.size, -1)
                place[:, : theirs.size, : gates.shape[2]] = gates
    return wide


def cudnn(setting: Setting, size: str, kind: str, *, batch: int = 128, padded: bool = False) -> Row:
    """Measure cuDNN's LSTM alone, in a precision that training may not offer; losses are not scaled."""
    what = f"cuDNN{', padded' if padded else ''}, batch {batch}"
    if kind == "bf16" and not has_bf16(setting.device.type):
        return Row(what, size, kind, note="left out: this device does not compute in bfloat16")
    recipe = setting.recipe(size, batch=batch)
    network = make_network(recipe)
    if padded:
        embedding, hidden, _ = (32, 64, 3) if setting.tiny else PADDED[size]
        network = widened(network, embedding, hidden)
    network = network.to(setting.device).train()
    optimizer = make_optimizer(network, recipe)
    generator = torch.Generator(setting.device).manual_seed(0)
    steps = recipe.bptt or 1
    symbols = torch.randint(SYMBOLS, (steps + 1, recipe.batch_units // steps), device=setting.device)
    types = {"fp16": torch.float16, "bf16": torch.bfloat16}
    autocast = torch.autocast(setting.device.type, dtype=types.get(kind), enabled=kind in types)

    def step() -> int:
        optimizer.zero_grad(set_to_none=True)
        with autocast:
            logits = network.logits(network(symbols[:-1], generator).output)
            loss = F.cross_entropy(logits.flatten(0, 1), symbols[1:].flatten())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), recipe.gradient_clip)
        optimizer.step()
        return symbols[1:].numel()

    with torch.backends.cudnn.flags(enabled=True, allow_tf32=kind == "tf32"):
        rate = timed(setting, step)
    return Row(what, size, kind, rate)


def scoring(setting: Setting, size: str) -> Row:
    """Measure the scoring of one edition."""
    network = make_network(setting.recipe(size)).to(setting.device).eval()
    intents = setting.text().intents[: 20 if setting.tiny else 4000]

    def step() -> int:
        score(network, intents)
        return sum(map(len, intents))

    return Row("scoring", size, "fp32", timed(setting, step))


def agreement(setting: Setting) -> Row:
    """Train a few steps in single precision alone and with neighbours, and compare bits per intent."""
    from langdiff.lm.grouped.gradients import GroupedGradients

    recipe = replace(setting.recipe("char-fast", bf16=False), embedding_size=96, batch_units=512, epochs=1)
    full = setting.text()
    text = EncodedPart(full.intents[:60], sum(map(len, full.intents[:60])))
    one = make_trainer(recipe, text, setting.device, 0)
    one.run_epoch()
    many = [make_trainer(recipe, text, setting.device, seed) for seed in (0, 1, 2)]
    engine = GroupedGradients([trainer.network for trainer in many], recipe, 3)
    epochs = {number: trainer.epoch_by_demands() for number, trainer in enumerate(many)}
    waiting = {number: next(epoch) for number, epoch in epochs.items()}
    while waiting:
        together = list(waiting)
        losses = engine.accumulate(list(waiting.values()))
        for number, loss in zip(together, losses, strict=True):
            try:
                waiting[number] = epochs[number].send(loss)
            except StopIteration:
                del waiting[number]
    bits = [score(trainer.network.eval(), text.intents)[0] for trainer in (one, many[0])]
    worst = float(np.abs(bits[0] - bits[1]).max())
    return Row("with neighbours against alone", "96", "fp32", note=f"at most {worst:.2g} bits per intent apart")


def measurements(setting: Setting) -> list[tuple[str, Callable[[], Row]]]:
    """List what is measured, the most informative first."""
    L = partial(setting.recipe, "L")  # noqa: N806
    rows: list[tuple[str, Callable[[], Row]]] = [
        ("one by one L", lambda: alone(setting, L())),
        ("processes L", lambda: processes(setting, L(), 8)),
        ("processes L, MPS", lambda: processes(setting, L(), 8, mps=True)),
        ("agreement", lambda: agreement(setting)),
        ("grouped L", lambda: grouped(setting, L(), 8)),
    ]
    for size in ("M", "S", "char-fast"):
        recipe = setting.recipe(size)
        rows.append((f"one by one {size}", partial(alone, setting, recipe)))
        rows.append((f"processes {size}, MPS", partial(processes, setting, recipe, 8, mps=True)))
        rows.append((f"processes {size}", partial(processes, setting, recipe, 8)))
        rows.append((f"grouped {size}", partial(grouped, setting, recipe, 8)))
    rows.append(("scoring L", lambda: scoring(setting, "L")))
    for kind, padded in (("fp16", True), ("fp16", False), ("bf16", True), ("bf16", False), ("tf32", False)):
        rows.append((f"cuDNN L {kind}", partial(cudnn, setting, "L", kind, padded=padded)))
    rows += [(f"grouped L, {k}", partial(grouped, setting, L(), k)) for k in (4, 16, 2, 1)]
    rows += [(f"grouped {s}, 16", partial(grouped, setting, setting.recipe(s), 16)) for s in ("M", "char-fast", "S")]
    rows += [
        ("grouped L, fp32", lambda: grouped(setting, L(bf16=False), 8)),
        ("one by one L, fp32", lambda: alone(setting, L(bf16=False))),
        ("cuDNN L, batch 64", lambda: cudnn(setting, "L", "fp16", batch=64, padded=True)),
        ("grouped L, separate kernels", lambda: grouped(setting, L(), 8, plain=True)),
    ]
    return rows


def summary(rows: list[Row]) -> list[str]:
    """Compare with what was promised."""
    lines = []
    for size, wanted in WANTED.items():
        one, side_by_side, group = (_best(rows, what, size) for what in WAYS)
        if one and side_by_side:
            lines.append(f"{size}: the best of several processes is {side_by_side / one:.1f} times one by one")
        rival = max(filter(None, (one, side_by_side)), default=None)
        if rival and group:
            lines.append(
                f"{size}: the best grouped is {group / rival:.1f} times the best without grouping (wanted: {wanted:g})"
            )
    for size, epochs, hours in PROMISES:
        rate = max(filter(None, (_best(rows, what, size) for what in WAYS)), default=None)
        if rate:
            needed = EDITIONS * CHARACTERS * epochs / rate / 3600
            lines.append(
                f"{EDITIONS} editions of {CHARACTERS / 1e6:g} million characters, {size}, {epochs} epochs: "
                f"{needed:.2f} h of training (wanted: {hours:.2g}), dev part and writing not counted"
            )
    scored = _best(rows, "scoring", "L")
    if scored:
        lines.append(
            f"a dev part of a tenth, L, 500 epochs: {EDITIONS * CHARACTERS * 50 / scored / 3600:.2f} h of scoring"
        )
    return lines


def _best(rows: list[Row], what: str, size: str) -> float | None:
    return max((row.rate for row in rows if row.what.startswith(what) and row.size == size and row.rate), default=None)


def table(rows: list[Row], device: str) -> str:
    lines = [device, "", "| what | size | precision | characters/s | |", "|---|---|---|---:|---|"]
    for row in rows:
        rate = "" if row.rate is None else f"{row.rate:,.0f}"
        lines.append(f"| {row.what} | {row.size} | {row.precision} | {rate} | {row.note} |")
    return "\n".join([*lines, "", *(f"* {line}" for line in summary(rows)), ""])


def write(path: Path, rows: list[Row], device: str) -> None:
    if path.suffix == ".json":
        record = {"device": device, "rows": [vars(row) for row in rows], "summary": summary(rows)}
        write_text(path, json.dumps(record, indent=1))
    else:
        write_text(path, table(rows, device))


def describe(setting: Setting) -> str:
    name = torch.cuda.get_device_name(setting.device) if setting.device.type == "cuda" else "CPU"
    tiny = "; tiny networks and times: the figures mean nothing" if setting.tiny else ""
    sizes = ", ".join(f"{size} = {widths(each)}" for size, each in SIZES.items())
    return f"{name}, torch {torch.__version__}, {SYMBOLS} symbols{tiny}; {sizes} (widths of embedding and layers)"


def measure(what: str, function: Callable[[], Row], device: torch.device) -> Row:
    """Measure; a failure is a row, too."""
    start = time.perf_counter()
    try:
        if device.type == "cuda":
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats(device)
        row = function()
        if device.type == "cuda":
            row.values["peak_gib"] = torch.cuda.max_memory_allocated(device) / 2**30
            row.note = f"{row.note}, {row.values['peak_gib']:.1f} GiB".removeprefix(", ")
    except Exception as error:  # whatever it is, the others are still worth their time
        row = Row(what, "", "", note=f"failed: {type(error).__name__}: {str(error).partition(chr(10))[0][:120]}")
    row.values["seconds"] = time.perf_counter() - start
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--tiny", action="store_true", help="a second for everything, to see that it runs")
    parser.add_argument("--out", type=Path, help="Markdown or, if it ends in .json, JSON")
    parser.add_argument("--minutes", type=float, default=7.5, help="begin no measurement after that (7.5)")
    options = parser.parse_args()
    device = torch.device(options.device)
    warm, seconds = (0.0, 0.0) if options.tiny else (4.0, 6.0)
    setting = Setting(device, options.tiny, warm, seconds)
    rows: list[Row] = []
    start = time.perf_counter()
    print(describe(setting), flush=True)
    for what, function in measurements(setting):
        if time.perf_counter() - start > 60 * options.minutes:
            row = Row(what, "", "", note="left out: no time")
        else:
            row = measure(what, function, device)
        rows.append(row)
        rate = "" if row.rate is None else f"{row.rate:14,.0f} characters/s"
        print(f"{row.what:32} {row.size:10} {row.precision:5}{rate} {row.note}", flush=True)
        if options.out is not None:
            write(options.out, rows, describe(setting))
    print("\n".join(summary(rows)))


if __name__ == "__main__":
    main()
