# Every target sets up .venv when it is missing or what it is made from has changed: `demo` with what every user gets,
# the others with the optional packages and tools as well, which take as long again to install.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
BASE := $(VENV)/.base
READY := $(VENV)/.ready
# Pythons beside $(PYTHON) for `make pythons`; those that are not installed are skipped.
PYTHONS ?= python3.11 python3.12 python3.13
# One thread per process: the models are small, and two processes are faster than two threads.
export OMP_NUM_THREADS ?= 1

.PHONY: help demo base test lint type docs metadata bench notebooks format pythons lowest clean
help:
	@echo "make demo       train, fit and report on artificial languages whose difficulty is known (minutes)"
	@echo "make test       run the tests"
	@echo "make lint       ruff, imports, ratchet make type       mypy"
	@echo "make docs       build the handbook     make notebooks  execute the notebooks, store outputs"
	@echo "make bench      print the benchmarks   make format     let ruff rewrite the code"
	@echo "make metadata   write codemeta.json and .zenodo.json from pyproject.toml and CITATION.cff"
	@echo "make pythons    run the tests under every Python found"
	@echo "make base       three commands and some tests with the package alone, without extras"
	@echo "make lowest     run the tests with the lowest versions that pyproject.toml allows"

$(BASE): pyproject.toml constraints.txt
	$(PYTHON) -c "import sys; assert sys.version_info >= (3, 11), 'langdiff needs Python 3.11 or newer'"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[lm]"
	touch $(BASE)

$(READY): $(BASE)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[all]"
	touch $(READY)

demo: $(BASE)
	$(BIN)/langdiff demo --out runs/demo

# The package without extras, in an environment made anew: for `.ci/run` under other Pythons.
base:
	rm -rf .venv-base
	$(PYTHON) -m venv .venv-base
	.venv-base/bin/python -m pip install --quiet -c constraints.txt . pytest pytest-timeout hypothesis
	.venv-base/bin/langdiff doctor
	.venv-base/bin/langdiff reproduce --paper all
	.venv-base/bin/langdiff run examples/artificial-trigrams.toml --out .venv-base/run
	.venv-base/bin/python -m pytest tests/corpora tests/selection tests/regression/kernel tests/discourse

test: $(READY)
	$(BIN)/python -m pytest -n auto --maxprocesses 8

# Each in an environment of its own: .venv-python3.12, …
pythons:
	for python in $(PYTHONS); do \
		if $$python -c "" 2> /dev/null; then $(MAKE) test PYTHON=$$python VENV=.venv-$$python || exit 1; \
		else echo "$$python is not installed"; fi; \
	done

# Packages that are pinned below warn of others that are newer: their DeprecationWarnings are not errors here.
# torch stays as it is pinned, since old builds for CPUs are not in the package index.
lowest: $(READY)
	$(PYTHON) -m venv .venv-lowest
	$(BIN)/python .ci/lowest.py torch ortools > .venv-lowest/constraints.txt
	grep "^torch==" constraints.txt >> .venv-lowest/constraints.txt
	.venv-lowest/bin/python -m pip install --quiet -c .venv-lowest/constraints.txt -e ".[all]"
	.venv-lowest/bin/python -m pytest -n auto --maxprocesses 8 -W default::DeprecationWarning -W default::PendingDeprecationWarning

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check langdiff tests benchmarks
	$(BIN)/lint-imports
	$(BIN)/python .ci/structure.py --ratchet
	$(BIN)/python .ci/floor.py

format: $(READY)
	$(BIN)/ruff check --fix langdiff tests benchmarks
	$(BIN)/ruff format langdiff tests benchmarks

type: $(READY)
	$(BIN)/mypy

docs: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

metadata: $(READY)
	$(BIN)/python packaging/metadata.py

notebooks: $(READY)
	printf '%s\n' notebooks/*.ipynb | xargs -n 1 -P 2 $(BIN)/python .ci/notebooks.py

bench: $(READY)
	for benchmark in benchmarks/*.py; do $(BIN)/python $$benchmark || exit 1; done

clean:
	rm -rf $(VENV) .venv-* site build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
