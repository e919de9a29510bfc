"""Steps of training on a pretend GPU, one row per recipe: kernels, synchronizations, copies, and difference of bits.

    python benchmarks/gpu_steps.py [RECIPE ...]

Needs g++ and a build of PyTorch without CUDA; see tests/lm/pretend_gpu/. The networks are narrow and the texts few: all
but the number of slices of the softmax is as at full size. Differences are the largest of a text, in bits, from the CPU
in single precision.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # the tests' device
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


def main():
    print(
        "| recipe | kernels per step | synchronizations | blocking copies | bits, bfloat16 | bits | resumed | halved |"
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
        half = f"{found['bits in bfloat16']:.1e}" if found["bf16"] else ""
        differences = " | ".join(f"{found[key]:.1e}" for key in ("bits", "resumed", "halved"))
        print(f"| {name} | {found['operators']:.0f} | {sums[0]:g} | {sums[1]:g} | {half} | {differences} |", flush=True)
        lines += [f"{name}: {n:g} per step: {line}" for key in ("waits", "copies") for line, n in found[key].items()]
    print("\n".join(["", *lines]))


if __name__ == "__main__":
    main()
