# make demo | test | eval | eval-page | bench | bundle | lint | eval-data | clean
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

.PHONY: demo test fast real lint fix models models-small bundle eval eval-page bench eval-data clean

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

# How well it works on the sample cases: tables here, build/evaluation.html for a person, build/evaluation.json to
# compare with (make eval COMPARE=old.json). ANSWERS=60 also answers that many turns; ROWS= (empty) asks every row.
EVAL := $(BIN)/ragcli eval
ROWS ?= raw,concat,rules,gold
eval: models
	mkdir -p build
	$(EVAL) sample_docs/cases.jsonl --ablate --only "$(ROWS)" --json --report build/evaluation.html $(if $(ANSWERS),--answers $(ANSWERS)) \
	  $(if $(COMPARE),--compare $(COMPARE)) > build/evaluation.json

# The tables of docs/evaluation.md; SECOND=folder measures a second set of cases for its columns. Takes an hour or two:
# one row asks the language model at every turn, and 60 turns are answered.
PAGE_ROWS := --ablate --with-model --answers $(or $(ANSWERS),60)
eval-page: models
	mkdir -p build
	$(EVAL) sample_docs/cases.jsonl $(PAGE_ROWS) --json --report build/evaluation.html > build/samples.json
	$(if $(SECOND),$(EVAL) $(SECOND) $(PAGE_ROWS) --json > build/second.json)
	$(BIN)/python scripts/evaluation_page.py build/samples.json $(if $(SECOND),build/second.json)

# Each script measures ragcli and its peer in one run; the peers live in an environment of their own.
PEERS := build/peers
$(PEERS)/.ready: $(READY)
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet langchain-classic langchain-community langchain-text-splitters chonkie bm25s llm
	touch $@

bench: models $(PEERS)/.ready
	$(BIN)/python benchmarks/all.py --peers $(PEERS) --out docs/benchmarks.md $(if $(CASES),--cases $(CASES))

clean:
	rm -rf .demo build dist *.egg-info .mypy_cache .ruff_cache
	find ragcli tests -name __pycache__ -type d -prune -exec rm -rf {} +
