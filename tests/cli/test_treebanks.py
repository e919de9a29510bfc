import io
import json
import warnings

import pandas as pd
import pytest

import langdiff as ld

BARK = "1\tdogs\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tbark\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n"
SLEEP = BARK.rstrip("\n") + "\n3\there\t_\tADV\t_\t_\t2\tadvmod\t_\t_\n4\t.\t_\tPUNCT\t_\t_\t2\tpunct\t_\t_\n\n"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("treebanks")
    (folder / "short.conllu").write_text(BARK * 50 + SLEEP * 10)
    (folder / "long.conllu").write_text(BARK * 10 + SLEEP * 90)
    return [folder / "short.conllu", folder / "long.conllu"]


def test_measures(langdiff, files):
    printed = langdiff("treebanks", "measures", *files, "--json").good
    frame = pd.DataFrame(json.loads(printed.out)).set_index("treebank").astype(float).reset_index()  # null is NaN
    pd.testing.assert_frame_equal(frame, ld.measure_treebanks(files).to_frame(), check_dtype=False, rtol=1e-9)
    tsv = langdiff("treebanks", "measures", *files, "--tsv").out
    pd.testing.assert_frame_equal(pd.read_csv(io.StringIO(tsv), sep="\t"), frame, check_dtype=False)
    assert "Head-POS entropy in bits over tokens" in langdiff("treebanks", "measures", *files).out


def test_measures_over_types(langdiff, tmp_path):
    path = tmp_path / "dogs.conllu"
    # dogs, half of the tokens and one of three types: VERB three times, AUX once, entropy 0.8113
    path.write_text(BARK + BARK + BARK.replace("bark", "lie") + BARK.replace("VERB", "AUX"))
    for over, share in (("types", 1 / 3), ("tokens", 1 / 2)):
        printed = langdiff("treebanks", "measures", path, "--over", over, "--json").out
        assert json.loads(printed)[0]["hpe_mean"] == pytest.approx(0.811278 * share, abs=1e-6)
    assert "Head-POS entropy in bits over types" in langdiff("treebanks", "measures", path, "--over", "types").out


def test_compare_under_names_of_ones_own(langdiff, files):
    short, long = files
    done = langdiff("treebanks", "compare", f"few={short}", long, f"again={short}", "--json").good
    frame = pd.DataFrame(json.loads(done.out))
    assert frame["reference"].unique().tolist() == ["few", "long", "again"]
    pairs = frame.query("metric == 'mean'").set_index(["reference", "compared"])["divergence"]
    assert pairs["few", "again"] == 0
    assert pairs["few", "long"] == pairs["again", "long"] > 0
    twice = langdiff("treebanks", "compare", f"few={short}", f"few={long}")
    assert twice.code != 0
    assert "'few'" in twice.err


def test_compare(langdiff, files, tmp_path):
    out = tmp_path / "maps"
    done = langdiff("treebanks", "compare", *files, "--out", out, "--json", "--n-repeats", 2).good
    frame = pd.DataFrame(json.loads(done.out)).astype({"std": float, "low": float, "high": float})
    assert frame["metric"].unique().tolist() == ["size", "depth", "width", "length", "matrix", "mean"]
    written = pd.read_csv(out / "divergences.tsv", sep="\t")
    pd.testing.assert_frame_equal(written, frame, check_dtype=False, rtol=1e-9)
    names = {"counts.tsv", "divergences.tsv", "sizes.tsv", "settings.txt", "mean.svg", "metrics.svg", "noise.svg"}
    manifests = {path for path in out.iterdir() if path.suffix == ".json"}
    assert {path.name for path in {*out.iterdir()} - manifests} == names | {"profile-short.svg", "profile-long.svg"}
    assert "levels:separate" in (out / "settings.txt").read_text()
    assert langdiff("treebanks", "compare", *files, "--tsv").out.startswith("metric\treference\tcompared\t")
    assert langdiff("treebanks", "compare", *files).out.startswith("Mean divergence over size, depth, width")


def test_every_option_arrives(langdiff, files):
    options = "--no-punctuation --equalize tokens --n-repeats 2 --seed 3"
    done = langdiff("treebanks", "compare", *files, *options.split()).good
    assert "levels:separate|ancestors:2" in done.out.replace("\n", "")
    assert "repeats:2" in done.out.replace("\n", "")


def test_errors(langdiff, files, tmp_path):
    bad = tmp_path / "bad.conllu"
    bad.write_text(BARK * 60 + BARK.replace("2\tnsubj", "x\tnsubj"))
    done = langdiff("treebanks", "measures", bad)
    assert (done.code, done.out) == (1, "")
    assert "bad.conllu, line 181: HEAD 'x' is not an integer" in done.err
    bad.write_text(BARK * 60 + BARK.replace("2\tnsubj", "0\tnsubj"))
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert "1 of 61 sentences left out: line 181" in langdiff("treebanks", "measures", bad).err
    strict = langdiff("treebanks", "compare", bad, files[0], "--strict")
    assert strict.code == 1
    assert "line 181: This is not a tree: it has 2 roots" in strict.err
    assert langdiff("treebanks", "compare", files[0]).code == 1
    assert langdiff("treebanks", "compare", *files, "--equalize", "deep").code == 2
