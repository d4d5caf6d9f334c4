# `make` lists the targets. Needs Python 3.11 or newer; everything else goes into .venv.

PYTHON ?= python3
VENV ?= .venv
PEERS ?= .bench-peers
WORKERS ?= 2
bin := $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help demo test lint format soak bench bench-peers docs clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.installed ## install Paddock and run the demo
	$(bin)/paddock demo

test: lint ## lint, then run the tests with coverage
	$(bin)/pytest -n $(WORKERS) --cov --cov-report=term

lint: $(VENV)/.installed-dev ## check style, types and the order of the rooms
	$(bin)/ruff check
	$(bin)/ruff format --check
	$(bin)/mypy
	$(bin)/lint-imports

format: $(VENV)/.installed-dev ## sort imports, mend what can be mended, format
	$(bin)/ruff check --fix
	$(bin)/ruff format

soak: $(VENV)/.installed-dev ## run the long tests that `make test` leaves out
	$(bin)/pytest -n $(WORKERS) -m "slow or soak" --timeout=3600

bench: $(VENV)/.installed ## measure the simulator's speed
	$(bin)/paddock bench

bench-peers: $(VENV)/.installed $(PEERS)/.installed ## compare its speed with other simulators, in a venv of their own
	$(bin)/paddock bench peers

docs: $(VENV)/.installed-dev ## build the documentation into docs/_build
	$(bin)/python -m pip install --quiet --disable-pip-version-check -r docs/requirements.txt
	$(bin)/python docs/generate.py
	$(bin)/sphinx-build -W -q docs docs/_build

clean: ## remove everything that was built, the virtual environments too
	rm -rf $(VENV) $(PEERS) build dist htmlcov .coverage coverage.xml
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

# One installation serves until pyproject.toml changes.
$(VENV)/.installed: pyproject.toml | $(bin)/python
	$(bin)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(bin)/python
	$(bin)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ $(VENV)/.installed

$(PEERS)/.installed: | $(PEERS)/bin/python
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check crazyflow commonroad-vehicle-models
	@touch $@

%/bin/python:
	@command -v $(PYTHON) >/dev/null || { \
	    echo "$(PYTHON) was not found: install Python 3.11 or newer, or name it: make PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "Paddock needs Python 3.11 or newer, $(PYTHON) is $$($(PYTHON) -V 2>&1): try make PYTHON=python3.11"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	    echo "$(PYTHON) cannot make virtual environments: install its venv package (Debian, Ubuntu: apt install python3-venv)"; exit 1; }
	$(PYTHON) -m venv $* || { rm -rf $*; exit 1; }
