import langdiff as ld


def test_a_table_of_surprisals_is_drawn_with_its_fit(langdiff, tmp_path):
    path = tmp_path / "bits.csv"
    ld.simulate(30, 3, seed=0).surprisals.save(path)
    done = langdiff("plot", "table", path, "--out", tmp_path / "table.svg")
    assert done.code == 0, done.err
    assert b"<svg" in (tmp_path / "table.svg").read_bytes()
    refused = langdiff("plot", "table", path, path, "--out", tmp_path / "table.svg")
    assert (refused.code, "one table of surprisals, got 2 files" in refused.err) == (1, True)


def test_options_of_a_corpus_are_not_ignored(langdiff, tmp_path):
    path = tmp_path / "bits.csv"
    ld.simulate(30, 3, seed=0).surprisals.save(path)
    refused = langdiff("plot", "table", path, "-e", "e1", "--format", "pbc", "--out", tmp_path / "table.svg")
    assert refused.code == 1
    assert "--format, --edition: for pictures of a corpus" in refused.err
