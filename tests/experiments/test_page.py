import re

import matplotlib.pyplot as plt


def test_python_on_the_page_of_experiments_runs(root, capsys):
    blocks = re.findall(r"```python\n(.*?)```", (root / "docs/experiments.md").read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 6
    names = {}
    for block in blocks:
        exec(compile(block, "docs/experiments.md", "exec"), names)
    plt.close("all")
    shown = capsys.readouterr().out
    for heading in ("Goodness of 2 models", "LanguageSpread of 106 editions", "IntentStability", "DeletionBias"):
        assert heading in shown
