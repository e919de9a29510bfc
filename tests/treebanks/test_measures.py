import pandas as pd
import pytest
from matplotlib.figure import Figure

import langdiff as ld
from langdiff.errors import ConfigError, DataError
from langdiff.treebanks import dependency_length, head_pos_entropy
from langdiff.treebanks.treebank import Treebank
from tests.treebanks.strategies import A, B, tree


def test_one_row_a_treebank():
    measures = ld.measure_treebanks({"a": A, "b": B}, progress=False)
    frame = measures.to_frame().set_index("treebank")
    assert frame.index.tolist() == ["a", "b"]
    assert frame.loc["b", ["sentences", "words", "words_per_sentence"]].tolist() == [2, 10, 5]
    entropy = head_pos_entropy(B)
    assert frame.loc["b", ["hpe_mean", "hpe_skew"]].tolist() == pytest.approx([entropy.mean, entropy.skew], nan_ok=True)
    assert frame.at["b", "dependency_length"] == dependency_length(B).mean
    assert frame.at["b", "head_final_function"] == dependency_length(B, heads="function").head_final
    assert repr(measures) == "TreebankMeasures of 2 treebanks, 18 words"
    assert measures.summary().split("\n")[2].startswith("a ")
    assert measures.summary().endswith("[hpe_over:tokens|punctuation:hpe]")


@pytest.mark.parametrize("punctuation", [True, False])
def test_punctuation_is_one_option_for_all_measures(punctuation):
    measures = ld.measure_treebanks({"a": A}, punctuation=punctuation, progress=False)
    row = measures.table.loc["a"]
    assert row["words"] == (8 if punctuation else 7)
    assert row["hpe_mean"] == head_pos_entropy(A, punctuation=punctuation).mean
    for heads, name in (("content", "dependency_length"), ("function", "dependency_length_function")):
        assert row[name] == dependency_length(A, heads=heads, punctuation=punctuation).mean
    assert measures.summary().endswith(f"|punctuation:{'yes' if punctuation else 'no'}]")
    default = ld.measure_treebanks({"a": A}, progress=False).table.loc["a"]
    assert default["hpe_mean"] == head_pos_entropy(A, punctuation=True).mean
    assert default["dependency_length"] == dependency_length(A, punctuation=False).mean


def test_over_types():
    corpus = [tree("run VERB 0 root"), tree("a DET 2 det; run NOUN 0 root"), tree("run NOUN 2 nmod; on ADV 0 root")]
    # run: ROOT, ROOT, ADV, entropy 0.9183; a and on: 0
    for over, mean in (("types", 0.918296 / 3), ("tokens", 0.918296 * 3 / 5)):
        measures = ld.measure_treebanks({"run": corpus}, over=over, progress=False)
        assert measures.table.at["run", "hpe_mean"] == pytest.approx(mean, abs=1e-6)  # digits given
        assert measures.summary().endswith(f"[hpe_over:{over}|punctuation:hpe]")
        assert f"over {over}" in measures.plot("hpe_mean", Figure().subplots()).get_xlabel()


def test_names(tmp_path):
    (tmp_path / "deep").mkdir()
    for name in ("x.conllu", "deep/x.conllu", "y.v2.conllu"):
        (tmp_path / name).write_text("1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n2\tb\t_\tX\t_\t_\t1\tdep\t_\t_\n")
    measures = ld.measure_treebanks([tmp_path / "x.conllu", str(tmp_path / "y.v2.conllu")])
    assert measures.table.index.tolist() == ["x", "y.v2"]
    assert ld.measure_treebanks(tmp_path / "x.conllu").table.index.tolist() == ["x"]
    with pytest.raises(ConfigError, match="several treebanks are called 'x'; rename files"):
        ld.measure_treebanks([tmp_path / "x.conllu", tmp_path / "deep/x.conllu"])
    with pytest.raises(DataError, match="Treebank 'none': No token to measure"):
        ld.measure_treebanks({"a": A, "none": []}, progress=False)
    with pytest.raises(ConfigError, match="no treebank is given"):
        ld.measure_treebanks([])


def test_plots():
    measures = ld.measure_treebanks({"a": A, "b": B}, progress=False)
    for measure in ("dependency_length", "hpe_mean"):
        ax = measures.plot(measure, Figure().subplots())
        drawn = [list(line.get_xdata()) for line in ax.get_lines()]
        last = "dependency_length_function" if measure == "dependency_length" else measure
        assert drawn[-1] == sorted(measures.table[last], reverse=True)  # lowest on top
        assert len(drawn) == (2 if measure == "dependency_length" else 1)
    with pytest.raises(ConfigError, match="measure is one of sentences, words"):
        measures.plot("beauty")
    assert isinstance(measures.to_frame(), pd.DataFrame)


def test_a_treebank_has_no_words_to_measure():
    treebank = Treebank.from_trees(A, name="a")
    for measure in (dependency_length, head_pos_entropy):
        with pytest.raises(ConfigError, match="a Treebank is neither a file nor a list of files or trees"):
            measure(treebank)
