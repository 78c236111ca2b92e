# make setup    a virtual environment in .venv with everything in it
# make test     all tests
# make demo     train on drawer-open for a few minutes, evaluate, film, report
# make check    formatting, lint and types
#
# Each does what it needs first, and nothing twice.

SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
EXTRAS := dev,onnx

# What the demo trains, for how long, and where it keeps it.
TASK ?= drawer-open
STEPS ?= 1M
TRIALS ?= 500
OUT ?= runs/demo-$(shell date +%Y%m%d-%H%M%S)
OPTIONS ?=

.PHONY: setup test demo check docs clean

setup: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || { echo "Python is missing: install Python 3.11 or later, or say where it is with make PYTHON=…" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "$$($(PYTHON) --version) is too old: tsil needs Python 3.11 or later; say where it is with make PYTHON=…" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { echo "Python's venv module is missing: on Debian and Ubuntu, apt install python3-venv" >&2; exit 1; }
	@test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV)
	@echo "Installing tsil and what it needs into $(VENV), which takes a minute or more …"
	@$(BIN)/pip install --quiet --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[$(EXTRAS)]' || { echo "pip could not install everything: its own message above says what (a network is needed this first time)" >&2; exit 1; }
	@touch $@

test: setup
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest $(OPTIONS)

check: setup
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

demo: setup
	@set -e; out='$(OUT)'; \
	$(BIN)/tsil train $(TASK) --method tsil --steps $(STEPS) --out "$$out" $(OPTIONS); \
	echo; echo "How good is it on configurations it has never seen?"; \
	$(BIN)/tsil eval "$$out" --trials $(TRIALS); \
	echo; echo "An early policy beside the learned one (without a graphics card, drawing takes a while):"; \
	$(BIN)/tsil play "$$out" --policy early best --configurations 4 --speed 1 --video "$$out/videos/early-and-best.mp4" \
		|| echo "(no video: the message above says what is missing; everything else works without)"; \
	$(BIN)/tsil report "$$out" --out "$$out/report.html"; \
	echo "To type tsil yourself: source $(VENV)/bin/activate"

docs: setup
	$(BIN)/python -m tsil.cli.reference docs/configuration.md

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
