"""Steps of training on a pretend GPU, one row per recipe: kernels, synchronizations, copies, and difference of bits.

    python benchmarks/gpu_steps.py [RECIPE ...]
    python benchmarks/gpu_steps.py --plan

The second form prints, by arithmetic and for an H100 that nobody has measured here, what the published experiment of 69
languages takes: each line with its formula and inputs.

Needs g++ and a build of PyTorch without CUDA; see tests/lm/pretend_gpu/. The networks are narrow and the texts few: all
but the number of slices of the softmax is as at full size. Differences are the largest of a text, in bits, from the CPU
in single precision.
"""

import itertools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # the tests' device
from langdiff.lm import RECIPES  # noqa: E402
from tests.lm.pretend_gpu.device import compile_guard  # noqa: E402


def rows(names):
    """Yield what was found of each recipe."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"LD_PRELOAD": str(compile_guard(folder)), "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "tests.lm.pretend_gpu.runs", *names]
        with subprocess.Popen(
            command, env=environment, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as running:
            yield from (json.loads(line) for line in running.stdout)


LANGUAGES, CHARACTERS, A_TOKEN, DEV = 69, 2.4e6, 3.5, 1 / 20  # editions, of each, characters of a subword, dev part
PEAK = {"float32": 67e12, "tf32": 495e12, "half": 990e12}  # FLOP/s of an H100 SXM, dense, as its data sheet says
# of the peak that recurrent kernels reach, assumed: steps of one worker leave the GPU idle, those of several overlap
SHARE = {1: {"float32": 0.5, "tf32": 0.2, "half": 0.2}, 4: {"float32": 0.5, "tf32": 0.35, "half": 0.35}}
# bytes/s written, and copied, hashed and written by one core (measured: 1.1 s of 210 MiB)
DISK, CPU_RATE = 1.0e9, 0.19e9
WEIGHTS = {"char-ptb": (67, 1), "bpe-awd": (20_000, A_TOKEN)}  # symbols, characters of one


def persists(dtype: str, intents: int, n_in: int, n_out: int) -> bool:
    """Return whether PyTorch (2.x) asks cuDNN for its persistent kernel for an LSTM layer, on GPUs from A100 on."""
    widths = n_in % 128 == n_out % 128 == 0 and n_out <= 1024
    return dtype == "float16" and widths and intents % 8 == 0 and intents <= 128


def plan(every: float, workers: int, judged: str) -> None:
    """Print hours of training, of states every so many seconds, and of the dev part, by recipe and precision."""
    total = dict.fromkeys(PEAK, 0.0)
    print(f"\nstates every {every:g} s, {workers} worker(s), dev part in {judged}")
    for name, (symbols, length) in WEIGHTS.items():
        recipe = RECIPES[name]
        sizes = [recipe.embedding_size] + [recipe.hidden_size] * (recipe.layers - 1) + [recipe.embedding_size]
        recurrent = sum(4 * n_out * (n_in + n_out + 2) for n_in, n_out in itertools.pairwise(sizes))
        softmax = symbols * (recipe.embedding_size + 1)
        units = CHARACTERS / length
        slots = 4 if recipe.optimizer != "sgd" else 3  # network, best, and moments or the average
        state = 4 * slots * (recurrent + softmax)
        for precision, peak in PEAK.items():
            share = SHARE[workers][precision]
            rate = share * peak
            epoch = 6 * (recurrent + softmax) * units / rate  # 2 FLOP a weight forward, 4 backward
            of_dev = PEAK["float32"] * SHARE[1]["float32"] if judged == "float32" else rate
            disk = DISK * workers if every else CPU_RATE
            dev = 2 * (recurrent + softmax) * units * DEV / of_dev
            written = recipe.epochs * min(1.0, (epoch + dev) / every if every else 1.0)
            # beside the training of other workers and, in a thread, of its own
            states = written * state / disk
            hours = [LANGUAGES * x / 3600 for x in (recipe.epochs * epoch, states, recipe.epochs * dev)]
            total[precision] += sum(hours)
            print(
                f"  {name}, {precision}: training {hours[0]:.2f} h = {LANGUAGES} x {recipe.epochs} epochs x 6 x "
                f"{(recurrent + softmax) / 1e6:.1f}M weights x {units / 1e6:.2f}M units / ({share} x "
                f"{peak / 1e12:.0f} TFLOP/s); states {hours[1]:.2f} h = {LANGUAGES} x {written:.0f} x "
                f"{state / 2**20:.0f} MiB / ({disk / 1e9:g} GB/s); dev {hours[2]:.2f} h = {LANGUAGES} x "
                f"{recipe.epochs} x 2 x {(recurrent + softmax) / 1e6:.1f}M x {units * DEV / 1e6:.2f}M / "
                f"({of_dev / 1e12:.0f} TFLOP/s)"
            )
        streams = recipe.batch_units // recipe.bptt
        kept = sum(persists("float16", streams, *pair) for pair in itertools.pairwise(sizes))
        print(f"  {name}: cuDNN's persistent kernels fit {kept} of {recipe.layers} layers (widths {sizes})")
    print("  all: " + ", ".join(f"{precision} {hours:.1f} h" for precision, hours in total.items()))


def main():
    if sys.argv[1:] == ["--plan"]:
        plan(0, 1, "float32")  # a state after every epoch, which training waits for
        plan(60, 1, "training's precision")
        plan(60, 4, "training's precision")
        return
    print(
        "| recipe | kernels per step | synchronizations | blocking copies | bits, half precision "
        "| bits | resumed | halved |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    lines = []
    for found in rows(sys.argv[1:]):
        name = found["recipe"]
        if name == "none":
            continue
        if "error" in found:
            lines.append(f"{name}: {found['error']}")
            continue
        sums = [sum(found[key].values()) for key in ("waits", "copies")]
        half = f"{found['bits in half precision']:.1e}" if found["half"] else ""
        differences = " | ".join(f"{found[key]:.1e}" for key in ("bits", "resumed", "halved"))
        print(f"| {name} | {found['operators']:.0f} | {sums[0]:g} | {sums[1]:g} | {half} | {differences} |", flush=True)
        lines += [f"{name}: {n:g} per step: {line}" for key in ("waits", "copies") for line, n in found[key].items()]
    print("\n".join(["", *lines]))


if __name__ == "__main__":
    main()
