import json


def test_fit_of_a_log_with_its_own_names(langdiff, tmp_path):
    path = tmp_path / "scores.csv"
    rows = [f"{i};{lang};-{10 + 7 * i % 13 + shift},5" for i in range(8) for lang, shift in (("eng", 0), ("deu", 2))]
    path.write_text("\n".join(["doc_id;lang;logprob", *rows]) + "\n")
    names = ["--intent-column", "doc_id", "--edition-column", "lang", "--bits-column", "logprob"]
    done = langdiff("fit", path, *names, "--unit", "nats", "--json")
    assert done.code == 0, done.err
    assert [row["edition"] for row in json.loads(done.out)] == ["deu", "eng"]
    refused = langdiff("fit", path, *names)
    assert refused.code == 1
    assert "look like log-probabilities" in refused.err
