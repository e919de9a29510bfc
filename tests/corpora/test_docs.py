"""The figures of docs/evidence/corpora.md, by the calls of docs/corpora.md; tests/handbook runs them on small files."""

import re

import pytest

from tests.handbook.material import formats

EDITIONS = ("eng-kjv", "deu-luther1912", "heb-modern")


@pytest.fixture
def corpora(real_data, tmp_path, monkeypatch):
    """Folder with all that the page names."""
    (tmp_path / "bible").mkdir()
    for name in (*(f"{edition}.txt.gz" for edition in EDITIONS), "metadata.csv"):
        (tmp_path / "bible" / name).symlink_to(real_data / "bible" / name)
    for name in ("ntrex", "udhr", "pud", "europarl"):
        (tmp_path / name).symlink_to(real_data / name)
    monkeypatch.chdir(tmp_path)
    formats()
    return tmp_path


@pytest.mark.real_data
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
def test_every_call_of_the_page(corpora, root):
    page = (root / "docs" / "corpora.md").read_text(encoding="utf-8")
    names: dict[str, object] = {}
    for block in re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        exec(compile(block, "docs/corpora.md", "exec"), names)
    bibles, udhr, pud = names["bibles"], names["udhr"], names["pud"]
    assert set(bibles.editions) == set(EDITIONS)
    # the figures of the evidence, and those of the data's own descriptions
    evidence = (root / "docs" / "evidence" / "corpora.md").read_text(encoding="utf-8")
    rows = {row.split(" | ")[0].strip("| "): row for row in evidence.splitlines() if row.startswith("| ")}
    assert udhr.describe()[["editions", "languages", "intents"]].tolist() == [375, 318, 31]
    assert f"{udhr.describe()['characters']:,}" in rows["UDHR by article"]
    assert (~udhr.presence.loc["0"]).sum() == 15
    assert udhr.presence.drop(index="0").all(axis=None)
    characters = {"en": 110136, "fi": 115851, "th": 98318, "zh": 35573}
    assert pud.edition_sizes()["characters"][list(characters)].to_dict() == characters
    originals = {"en": 750, "de": 100, "fr": 50, "it": 50, "es": 50}
    assert pud.intent_info["original_language"].value_counts().to_dict() == originals
    assert pud.intent_info["document"].nunique() == 397  # "# newdoc" of the treebanks
    assert f"{pud.describe()['characters']:,}" in rows["PUD"]
    assert f"{names['parliament'].describe()['words']:,}" in rows["Europarl, three sittings"]
