# Every target makes the environment it needs; `make` alone explains itself.
#   make test ARGS="-m quick"        two minutes instead of all; any arguments of pytest
#   make run PYTHON=python3.12       chooses the interpreter of a new .venv

PYTHON ?= python3
ARGS   ?=

VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
PINS   := pyproject.toml constraints.txt

# data for tests and benchmarks: those beside the checkout, where the variable is not set
DATA   := $(abspath ../shared/data)
ifeq ($(HYLOOP_DATA)$(wildcard $(DATA)),$(DATA))
run test bench: export HYLOOP_DATA := $(DATA)
endif

.DEFAULT_GOAL := help
.PHONY: help run test check bench format clean

help:  ## show this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/ /' | awk '{ t = $$1; $$1 = ""; printf "  make %-8s%s\n", t, $$0 }'

run: $(VENV)/core.done  ## run a hybrid test with a network that listens, and show its page
	@$(BIN)/hyloop run experiments/ocp_nn_two_story.toml $(ARGS)

test: $(VENV)/dev.done  ## run the tests
	@$(BIN)/python -m pytest --numprocesses auto --dist loadfile $(ARGS)

check: $(VENV)/dev.done  ## lint, format, types and layers
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(BIN)/pyright
	@$(BIN)/lint-imports --no-logo

bench: $(VENV)/dev.done  ## measure speed side by side with other engines
	@$(BIN)/hyloop bench $(ARGS)

format: $(VENV)/dev.done  ## rewrite the sources in the house format
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

clean:  ## remove the environment and all caches
	rm -rf $(VENV) build dist .hypothesis .import_linter_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# One environment, two depths: `run` needs the engine alone, the others also the tools and peers.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "hyloop needs Python 3.11 or newer; name one, for instance: make PYTHON=python3.12"; exit 2; }
	@echo "creating $(VENV)"
	@$(PYTHON) -m venv $(VENV)

$(VENV)/core.done: $(PINS) | $(BIN)/python
	@echo "installing hyloop into $(VENV) (once)"
	@$(PIP) --editable .
	@touch $@

$(VENV)/dev.done: $(PINS) | $(BIN)/python
	@echo "installing hyloop, its tools and peers into $(VENV) (once, a minute or two)"
	@$(PIP) --editable ".[learn,peers,test]"
	@touch $(VENV)/core.done $@
