import json

import pandas as pd

import langdiff as ld


def test_a_fit_and_a_table_give_the_same_spread(langdiff, tmp_path):
    fit = ld.fit(ld.simulate(50, 4, seed=0).surprisals)
    fit.save(tmp_path / "fit.json")
    fit.difficulty.rename("char").to_frame().assign(other=0.5).to_csv(tmp_path / "nats.csv")
    info = tmp_path / "editions.csv"
    pd.DataFrame({"edition": fit.difficulty.index, "language": ["a", "a", "b", "b"]}).to_csv(info, index=False)
    text = langdiff("spread", tmp_path / "fit.json", info, "--plot", tmp_path / "spread.svg")
    assert text.code == 0, text.err
    assert "LanguageSpread of 4 editions in 2 languages" in text.out
    assert b"<svg" in (tmp_path / "spread.svg").read_bytes()
    both = [langdiff("spread", tmp_path / name, info, "--json") for name in ("fit.json", "nats.csv")]
    rows = [json.loads(done.out) for done in both]
    assert [row["language"] for row in rows[0]] == [row["language"] for row in rows[1]]
    assert rows[0][0]["mean"] == rows[1][0]["mean"]
    assert langdiff("spread", tmp_path / "nats.csv", info, "--column", "x").code == 1
    assert "a fit is of one" in langdiff("spread", tmp_path / "fit.json", info, "--column", "x").err
