"""Lines of progress where there is no terminal, with a clock of the test."""

import itertools
import re

import pytest

from langdiff.base.progress import Lines

JOBS, EPOCHS = 12, 10


def told(seconds, step=1.0):
    """Run jobs one after the other; return the lines, each with the time that was then left in truth."""
    now, found = [0.0], []
    truth = sum(seconds)
    lines = Lines(lambda line: found.append((line, truth - now[0])), lambda: now[0])
    task = lines.add_task("char-small", total=len(seconds), note="")
    for number, length in enumerate(seconds):
        spent = 0.0
        while spent < length:
            spent = min(spent + step, length)
            now[0] += step
            epoch = int(spent / length * EPOCHS)
            lines.update(task, completed=number + min(spent / length, 0.999), note=f"e{number}", measured=epoch > 0)
        lines.update(task, completed=number + 1, note=f"e{number}")
    return found


@pytest.mark.parametrize("lengths", [[400.0] * JOBS, [300.0, 500.0] * 6, [500.0] + [300.0] * 11])
def test_first_number_is_never_below_half_the_truth(lengths):
    found = told(lengths)
    assert "left: not known yet" in found[0][0]
    numbers = [(line, float(number[1]) * 60, left) for line, left in found if (number := re.search(r"(\d+) min", line))]
    line, first, left = numbers[0]
    assert "at least" in line
    assert first >= left / 2


def test_there_is_a_line_for_every_job_and_every_minute():
    found = told([400.0] * JOBS)
    assert sum(f"{done} of 12:" in line for done in range(1, JOBS + 1) for line, _ in found) >= JOBS
    times = [left for _, left in found]
    assert max(before - after for before, after in itertools.pairwise(times)) <= 61
    assert "left" not in found[-1][0]


def test_short_jobs_are_quiet():
    assert told([0.5] * JOBS, step=0.25) == []
