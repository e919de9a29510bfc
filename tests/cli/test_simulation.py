import json

import numpy as np
import pytest

import langdiff as ld
from langdiff.regression import Blunders


def test_simulate_writes_what_the_api_draws(langdiff, tmp_path):
    settings = ["--n-intents", 40, "--n-editions", 3, "--model", "3", "--sigma", 1.1, "--laplace-scale", 0.2]
    settings += ["--missing", 0.3, "--mechanism", "MNAR", "--seed", 5]
    done = langdiff("simulate", *settings, "--out", tmp_path / "drawn.csv", "--truth", tmp_path / "truth.json")
    assert (done.code, done.err) == (0, "")
    truth = ld.simulate(40, 3, model=Blunders(scale=0.2), sigma=1.1, missing=0.3, mechanism="MNAR", seed=5)
    expected = truth.surprisals
    drawn = ld.read_surprisals(tmp_path / "drawn.csv")
    np.testing.assert_allclose(drawn.bits, expected.bits)
    saved = json.loads((tmp_path / "truth.json").read_text())
    assert saved["difficulty"] == truth.difficulty.to_dict()
    assert saved["laplace_scale"] == 0.2
    assert f"{truth.difficulty['e3']:+.4f}" in done.out


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["--out", "x.docx"], "unknown kind of table '.docx'"),
        (["--out", "x.csv", "--missing", 1], "missing is a share"),
        (["--out", "x.csv", "--model", "3"], "model '3' needs --laplace-scale"),
    ],
)
def test_bad_settings_are_one_line(langdiff, tmp_path, monkeypatch, settings, message):
    monkeypatch.chdir(tmp_path)
    done = langdiff("simulate", "--n-intents", 5, "--n-editions", 2, *settings)
    assert done.code == 1
    assert message in done.err
    assert done.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
