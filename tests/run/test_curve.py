"""Experiments that measure difficulties at several sizes."""

import numpy as np
import pytest

from langdiff.errors import ConfigError
from langdiff.run import Experiment, read_experiment, read_run, run_experiment

SETTINGS = {
    "name": "curve",
    "corpus": {"format": "synthetic", "n_intents": 120, "n_languages": 3},
    "lm": {"models": ["kneser-ney-2"], "max_replaced": 1.0, "floors": False},
}


def test_a_run_has_its_curve_in_files_and_report(tmp_path):
    experiment = Experiment.model_validate(SETTINGS | {"curve": {"sizes": [20, 40, 80], "lm": "kneser-ney-2"}})
    run = run_experiment(experiment, tmp_path / "run", progress=False)
    assert run.curve.sizes == [20, 40, 80]
    again = read_run(tmp_path / "run")
    np.testing.assert_array_equal(again.curve.log_bits, run.curve.log_bits)
    np.testing.assert_allclose(
        run.curve.difficulty[80], run.fits["kneser-ney-2"].difficulty
    )  # all of the training part
    page = run.report.read_text(encoding="utf-8")
    assert "Does it hold with more data?" in page
    assert {path.stem for path in (tmp_path / "run" / "figures").glob("curve*")} == {
        *("curve", "curve-ranks", "curve-correlations"),
    }
    without = run_experiment(Experiment.model_validate(SETTINGS), tmp_path / "run", progress=False)
    assert without.curve is None
    assert read_run(tmp_path / "run").curve is None
    assert "Does it hold with more data?" not in without.report.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("added", "message"),
    [
        ("[curve]\nsizes = [80, 40]", "'curve.sizes': sizes must rise"),
        ("[curve]\nsizes = [40, 80]\nlm = 'none'", "'curve.lm'"),
        ("[curve]\nsizes = [40, 80]\n[split]\nfolds = 3", "one division"),
        ("[curve]\nsize = [40, 80]", "did you mean 'sizes'"),
    ],
)
def test_settings_that_cannot_be_used_are_refused(tmp_path, added, message):
    path = tmp_path / "curve.toml"
    path.write_text(f'name = "x"\ncorpus = {{format = "synthetic"}}\n{added}\n')
    with pytest.raises(ConfigError, match=message):
        read_experiment(path)
