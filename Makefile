# Every target sets up .venv when it is missing or what it is made from has changed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# One thread per process: the models are small, and two processes are faster than two threads.
export OMP_NUM_THREADS ?= 1

.PHONY: help demo test lint type docs bench notebooks format clean
help:
	@echo "make demo       train, fit and report on artificial languages whose difficulty is known (minutes)"
	@echo "make test       run the tests"
	@echo "make lint       ruff, import contracts make type       mypy"
	@echo "make docs       build the handbook     make notebooks  execute the notebooks"
	@echo "make bench      print the benchmarks   make format     let ruff rewrite the code"

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c "import sys; assert sys.version_info >= (3, 11), 'langdiff needs Python 3.11 or newer'"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[all]"
	touch $(READY)

demo: $(READY)
	$(BIN)/langdiff demo --out runs/demo

test: $(READY)
	$(BIN)/python -m pytest -n auto --maxprocesses 8

lint: $(READY)
	$(BIN)/ruff check langdiff tests benchmarks
	$(BIN)/ruff format --check langdiff tests benchmarks
	$(BIN)/lint-imports

format: $(READY)
	$(BIN)/ruff check --fix langdiff tests benchmarks
	$(BIN)/ruff format langdiff tests benchmarks

type: $(READY)
	$(BIN)/mypy

docs: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

notebooks: $(READY)
	$(BIN)/jupyter execute notebooks/*.ipynb

bench: $(READY)
	for benchmark in benchmarks/*.py; do $(BIN)/python $$benchmark || exit 1; done

clean:
	rm -rf $(VENV) site build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
