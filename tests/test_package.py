import json
import subprocess
import sys

import pytest

import langdiff as ld


def _fresh(code):
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(out.stdout)


def test_import_is_quick_and_leaves_torch_alone():
    code = (
        "import json, sys, time; start = time.perf_counter(); import langdiff;"
        "print(json.dumps([time.perf_counter() - start, sorted({'torch', 'pandas', 'cmdstanpy'} & set(sys.modules))]))"
    )
    _, heavy = _fresh(code)
    assert heavy == []


STAGES = ["lm", "regression", "selection", "corpora", "experiments", "run", "plots"]
OF_LM = ["lm.language_model", "lm.lstm.presets", "lm.lstm.recipe", "lm.ngram.recipe", "lm.baselines"]


@pytest.mark.parametrize("stage", [*STAGES, *OF_LM])
def test_a_stage_imports_without_torch(stage):
    assert _fresh(f"import json, sys, langdiff.{stage}; print(json.dumps('torch' in sys.modules))") is False


WITHOUT = """
import importlib.metadata as metadata, json, sys, tempfile

known = metadata.version

def version(name):
    if name in ("torch", "sentencepiece", "cmdstanpy"):
        raise metadata.PackageNotFoundError(name)
    return known(name)

metadata.version = version

class Without:
    def find_spec(self, name, path=None, target=None):
        if name in ("torch", "sentencepiece", "cmdstanpy"):
            raise ModuleNotFoundError(name=name)

sys.meta_path.insert(0, Without())
import langdiff as ld
from langdiff.cli.app import app
from typer.testing import CliRunner

def told(call, *given, **how):
    try:
        return str(call(*given, **how))
    except ImportError as error:
        return f"{type(error).__name__}: {error}"

parts = ld.split(ld.synthesize(60, 2, seed=0).multitext)
bits = ld.compute_surprisals(parts, lm="kneser-ney-2")
EXPERIMENT = ld.run.Experiment.model_validate(
    {"name": "a", "corpus": {"format": "synthetic", "n_intents": 60, "n_languages": 2},
     "lm": {"models": ["kneser-ney-2"], "max_replaced": 1.0}}
)
print(json.dumps({
    "2": told(ld.fit, bits, model="2")[:12],
    "run": told(ld.run.run_experiment, EXPERIMENT, tempfile.mkdtemp(), progress=False)[:3],
    "char-small": told(ld.compute_surprisals, parts, lm="char-small"),
    "langdiff.HuggingFaceLM": told(lambda: ld.HuggingFaceLM),
    "langdiff.parallelism.train_tagger": told(lambda: ld.parallelism.train_tagger),
    "langdiff install-stan": CliRunner().invoke(app, ["install-stan"]).stderr,
}))
"""


def test_what_is_missing_is_told_with_its_extra():
    told = _fresh(WITHOUT)
    assert told.pop("2") == "DifficultyFi"
    assert told.pop("run") == "Run"
    stan = told.pop("langdiff install-stan")
    assert stan == "langdiff: this command needs CmdStanPy: pip install 'langdiff[stan]'.\n"
    for who, message in told.items():
        needs = f"{who} needs PyTorch: pip install 'langdiff[lm]' (CPU build: see First steps)."
        assert message == f"MissingExtraError: {needs}"


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="fitt"):
        ld.fitt  # noqa: B018


@pytest.mark.parametrize("stage", ["lm", "regression", "selection"])
def test_the_main_stages_are_linked_at_the_top(root, stage):
    assert (root / stage).resolve() == root / "langdiff" / stage


def test_submodules_are_reachable_after_one_import():
    code = "import json, langdiff as ld; print(json.dumps([ld.plots.__name__, ld.errors.DataError.__name__]))"
    assert _fresh(code) == ["langdiff.plots", "DataError"]
