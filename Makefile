# make demo | test | bundle | lint | eval-data | clean
# Everything is made once: the environment in .venv, the models in the folder that `ragcli models list` names.
# BUNDLE=dir (or a folder `bundle` beside this file) takes all of it from there, without any network.

PYTHON ?= python3
BUNDLE ?= $(wildcard bundle)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PIP := $(BIN)/python -m pip --disable-pip-version-check
SOURCES := ragcli tests scripts $(wildcard benchmarks)

ifneq ($(strip $(BUNDLE)),)
BUNDLE_DIR := $(abspath $(BUNDLE))
export PIP_NO_INDEX := 1
export PIP_FIND_LINKS := $(BUNDLE_DIR)/wheels
FROM_BUNDLE := --from $(BUNDLE_DIR)/models
LLAMA_BUNDLE := --bundle $(BUNDLE_DIR)
endif

.PHONY: demo test fast real lint fix models models-small bundle eval-data clean

demo: models
	$(BIN)/python scripts/demo.py

test: lint fast real

lint: $(READY)
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/mypy

fast: $(READY)
	$(BIN)/python -m pytest -q -m "not real"

real: models-small
	$(BIN)/python -m pytest -q -m real

fix: $(READY)
	$(BIN)/ruff check --fix $(SOURCES)
	$(BIN)/ruff format $(SOURCES)

# The stamp is newer than all that the environment is made of: a second run does nothing.
$(READY): pyproject.toml constraints.txt scripts/install_llama.py ragcli/models/processor.py
	@$(PYTHON) -c 'import sys; sys.exit("ragcli needs Python 3.11 or newer, this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else 0'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet -c constraints.txt torch
	$(BIN)/python scripts/install_llama.py $(LLAMA_BUNDLE)
	$(PIP) install --quiet -c constraints.txt -e ".[dev]"
	touch $(READY)

models: $(READY)
	$(BIN)/ragcli models pull default $(FROM_BUNDLE)

models-small: $(READY)
	$(BIN)/ragcli models pull default small $(FROM_BUNDLE)

bundle: models-small
	$(BIN)/python scripts/bundle.py $(or $(BUNDLE_OUT),bundle)

# Real text files of other origins, in the folder that RAGCLI_EVAL_TXT names; not part of the tests.
eval-data: $(READY)
	$(BIN)/python scripts/check_txt.py

clean:
	rm -rf .demo build dist *.egg-info .mypy_cache .ruff_cache
	find ragcli tests -name __pycache__ -type d -prune -exec rm -rf {} +
