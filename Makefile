# make demo   see it work        make test   check it        make bundle   everything for a machine without a network
# A folder bundle/ (or BUNDLE=DIR) is used instead of a registry where it is there.

PYTHON ?= python3
BUNDLE ?= $(wildcard bundle)
FROM   := $(if $(BUNDLE),--from $(BUNDLE)/models,)
RAGCLI := .venv/bin/ragcli

.PHONY: demo test lint fast real models bundle eval eval-data bench clean

demo: .venv/ready
	$(RAGCLI) models pull $(FROM)
	.venv/bin/python scripts/demo.py

test: lint fast real

lint: .venv/ready
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy

fast: .venv/ready
	.venv/bin/python -m pytest -q -m "not real"

real: .venv/ready
	$(RAGCLI) models pull $(FROM)
	$(RAGCLI) models pull --profile small $(FROM)
	.venv/bin/python -m pytest -q -m real

.venv/ready: pyproject.toml constraints.txt scripts/install.py
	$(PYTHON) scripts/install.py $(if $(BUNDLE),--bundle $(BUNDLE),)
	touch $@

bundle: .venv/ready
	.venv/bin/python scripts/install.py --wheels bundle
	.venv/bin/python scripts/bundle_models.py bundle/models

eval-data: .venv/ready
	.venv/bin/python scripts/check_txt.py

clean:
	rm -rf .venv .demo build
