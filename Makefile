# Needs Python 3.11 or newer and make; everything else goes into .venv.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo test test-slow lint format types stubs golden bench clean

demo: $(VENV)/.installed
	$(BIN)/sapwood demo

test: $(VENV)/.installed-test
	$(BIN)/python -m pytest -n auto -m "not slow" $(PYTEST_ARGS)

# The long sweeps: 5,000 fuzz programs, a chain of a million operations, mutants of every rule
test-slow: $(VENV)/.installed-test
	$(BIN)/python -m pytest -m slow $(PYTEST_ARGS)

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(VENV)/.installed-dev
	$(BIN)/mypy

stubs: $(VENV)/.installed
	$(BIN)/python tools/make_stubs.py

# Needs PyTorch: $(BIN)/python -m pip install torch==2.13.0
golden: $(VENV)/.installed
	$(BIN)/python tools/record_golden.py

bench: $(VENV)/.installed
	$(BIN)/python -m bench

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache

# A stamp per set of packages: made anew when pyproject.toml changes, else reused.
$(VENV)/.installed: EXTRA := [progress]
$(VENV)/.installed-test: EXTRA := [progress,test]
$(VENV)/.installed-dev: EXTRA := [dev]

$(VENV)/.installed $(VENV)/.installed-test $(VENV)/.installed-dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.$(EXTRA)'
	@touch $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "sapwood needs Python 3.11 or newer; this is $$($(PYTHON) --version 2>&1)." \
	       "Name another one: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { \
	  echo "$(PYTHON) comes without its venv module; on Debian: apt install python3-venv" >&2; \
	  exit 1; }
	$(PYTHON) -m venv $(VENV)
