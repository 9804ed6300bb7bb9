# Two commands for a machine with Python 3.11 or newer and make:
#   make quick   set everything up, run the embedded suite, print a leaderboard
#   make test    set everything up, check style and types, run the tests

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
export HF_HUB_OFFLINE ?= 1

.PHONY: quick leaderboard test lint types unit bench setup clean

# Tables go beside the results, so that trying things leaves the checkout clean.
quick: setup
	$(BIN)/faithboard run --suite quick --leaderboards results/leaderboards

# Renew the committed tables of the embedded suite and the one in README.md.
leaderboard: quick
	$(BIN)/faithboard report --suite quick-v1 --leaderboards leaderboards --readme README.md

test: lint types unit

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

unit: setup
	$(BIN)/pytest -n 2

bench: setup
	$(BIN)/pytest tests/perf --benchmark-only

setup: $(VENV)/installed

# torch goes first and alone, so that its pin decides and no other package's open range pulls in another build.
$(VENV)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt torch
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

clean:
	rm -rf $(VENV)
