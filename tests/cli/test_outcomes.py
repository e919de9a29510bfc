"""`langdiff outcomes`: what it prints, and what it says of tables that cannot be fitted."""

import json

import pandas as pd
import pytest

import langdiff as ld


@pytest.fixture
def table(tmp_path):
    outcomes = ld.simulate_outcomes(120, 3, groups={"plain": 0.0, "nested": 1.0}, documents=40, missing=0.1, seed=1)
    path = tmp_path / "outcomes.csv"
    outcomes.outcomes.save(path)
    return path


def test_fit_check_and_predict(langdiff, table, tmp_path):
    checked = langdiff("outcomes", "check", table, "--by", "group", "--json").good
    assert json.loads(checked.out)["models"] == {"marginal": "can be fitted", "conditional": "can be fitted"}
    fit, picture = tmp_path / "fit.json", tmp_path / "map.svg"
    done = langdiff(
        "outcomes", "fit", table, "--by", "group", "--clusters", "document", "--out", fit, "--plot", picture
    ).good
    assert "Independent units: 40 documents (as given)" in done.out
    assert picture.read_text().startswith("<?xml")
    as_json = langdiff("outcomes", "fit", table, "--by", "group", "--json")
    frame = pd.DataFrame(json.loads(as_json.out))
    ours = ld.fit_outcomes(ld.read_outcomes(table), by="group").to_frame()
    pd.testing.assert_frame_equal(frame, ours, check_dtype=False)


def test_attributes_from_other_files(langdiff, table, tmp_path):
    lengths = tmp_path / "lengths.tsv"
    lengths.write_text("item\tlength\n" + "".join(f"i{i + 1}\t{i % 7 + 1}\n" for i in range(120)))
    done = langdiff("outcomes", "fit", table, "--items", lengths, "--formula", "log(length)").good
    assert "log(length)" in done.out


def test_several_languages_with_chance(langdiff, tmp_path):
    drawn = ld.simulate_crossed_outcomes(120, 3, 3, chance=0.25, seed=1).outcomes
    drawn.save(tmp_path / "answers.csv")
    done = langdiff("outcomes", "fit", tmp_path / "answers.csv", "--out", tmp_path / "fit.json").good
    assert "9 columns (3 languages, 3 systems)" in done.out
    assert "chance 1/4 of 120 items, from the attribute chance of items" in done.out
    summed = langdiff("outcomes", "fit", tmp_path / "answers.csv", "--additive", "--chance", "0.2", "--json")
    frame = pd.DataFrame(json.loads(summed.out)).set_index(["parameter", "name"])["estimate"]
    ours = ld.fit_outcomes(drawn, additive=True, chance=0.2).parameters["estimate"]
    assert abs(frame[("ability", "l1@s1")] - ours[("ability", "l1@s1")]) < 1e-9
