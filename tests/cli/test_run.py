def test_a_section_that_cannot_be_done_is_a_failure(langdiff, tmp_path):
    study = tmp_path / "study.toml"
    study.write_text(
        'name = "study"\ncorpus = {format = "synthetic", n_intents = 60, n_languages = 2}\n'
        '[lm]\nmodels = ["kneser-ney-2"]\nmax_replaced = 1.0\nbaselines = false\n[correlate]\nonly = ["words"]\n'
    )
    done = langdiff("run", study, "--out", tmp_path / "run", "--json")
    assert done.code == 1
    assert "langdiff: [correlate]: This could not be done:" in done.err
    assert done.err.count("could not be done") == 1  # at the end; the log of the run has it at once
    assert "[correlate] could not be done" in (tmp_path / "run" / "run.jsonl").read_text(encoding="utf-8")
    assert (tmp_path / "run" / "report.html").is_file()
    assert langdiff("report", tmp_path / "run").code == 0
