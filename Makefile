# Everything a developer runs. `make` alone lists it.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-print-directory
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

PORT ?= 8888
ARGS ?=
VERSION :=
# Tests at once, for two cores: they wait as much as they work. With more, pages are late for them.
WORKERS ?= 4
# The first Python that is new enough.
PYTHON ?= $(firstword $(foreach p,python3 python3.14 python3.13 python3.12 python3.11,\
	$(shell $(p) -c 'import sys; print("$(p)" * (sys.version_info >= (3, 11)))' 2>/dev/null)))

# Where this is set, each of the many processes of a test run compiles every module anew.
unexport PYTHONDONTWRITEBYTECODE

BIN := .venv/bin
STAGE := bash scripts/stage.sh
PYTEST := bash scripts/pytest_in_memory.sh $(BIN)/pytest
PYTHON_READY := .venv/.ready
NODE_READY := web/node_modules/.ready
CLIENTS_READY := tests/clients/node_modules/.ready
PAGES := src/airboss/static/index.html
PAGE_SOURCES := $(shell find web -path web/node_modules -prune -o -type f -print)
DOCS := src/airboss/static/docs/index.html
DOC_SOURCES := $(shell find docs scripts/docs $(wildcard examples) -type f -not -path '*/__pycache__/*') $(wildcard *.md) \
	bench/RESULTS.md $(addprefix web/src/,tokens.css theme.js mark.svg)

.PHONY: help setup python web docs runtime run test check bench chaos trials pictures generate lock browser bubblewrap postgres clients types compiled wheel release clean

help: ## list all commands
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-10s %s\n", $$1, $$2 }'

setup: python web docs runtime bubblewrap ## install everything and build the pages; safe to repeat

run: setup ## start the server on PORT (8888); pass more options in ARGS
	@exec $(BIN)/airboss serve --port $(PORT) $(ARGS)

test: setup browser postgres clients ## run all tests
	@echo "Tests of the front end"
	@cd web && npm run --silent test
	@echo "Tests that run alone"
	@$(PYTEST) -q -m alone $$(grep -rl 'mark\.alone' tests --include='test_*.py')
	@echo "Tests that have to be done in time, two at once"
	@$(PYTEST) -q -n 2 --dist loadfile -m timed $$(grep -rl 'mark\.timed' tests --include='test_*.py')
	@echo "All other tests, $(WORKERS) at once"
	@$(PYTEST) -q -n $(WORKERS) --dist worksteal -m "not alone and not timed"

check: types python web docs ## lint, types, layers, generated files and links: all static checks
	@$(STAGE) "ruff" $(BIN)/ruff check .
	@$(STAGE) "format" $(BIN)/ruff format --check .
	@$(STAGE) "layers" $(BIN)/lint-imports
	@$(STAGE) "front end: lint" npm --prefix web run --silent lint
	@$(STAGE) "front end: types" npm --prefix web run --silent types
	@$(STAGE) "generated pages are current" $(BIN)/python scripts/generate.py --check
	@$(STAGE) "pictures are current" $(BIN)/python -m scripts.pictures --check

bench: setup postgres ## run the benchmarks and write the table in bench/
	@$(BIN)/python -m bench $(ARGS)

chaos: setup postgres ## kill servers and runtimes under random jobs, 200 times; write the table in bench/
	@$(BIN)/python -m tests.crash.chaos --trials 200 $(ARGS)

trials: setup browser postgres ## run the long trials that the tests only sample: kills, floods, API fuzzing
	@test -n "$(ARGS)" || AIRBOSS_TRIALS=whole $(BIN)/pytest -q -m trial
	@$(BIN)/python -m tests.contract.fuzzing $(ARGS)

pictures: setup browser ## take screenshots of every page for docs/; review them
	@$(BIN)/python -m scripts.pictures

generate: python ## generate docs/api.json, docs/events.md, the entry schema and the front-end types
	@$(BIN)/python scripts/generate.py

lock: python ## resolve all dependencies again and write the lock files
	@$(STAGE) "requirements/run.txt" $(COMPILE) pyproject.toml -o requirements/run.txt
	@$(STAGE) "requirements/dev.txt" $(COMPILE) pyproject.toml --group dev -c requirements/run.txt -o requirements/dev.txt
	@$(STAGE) "web/package-lock.json" npm --prefix web install --package-lock-only
	@$(STAGE) "web/package-lock.json for other systems" $(BIN)/python scripts/complete_lock.py web/package-lock.json
	@$(STAGE) "tests/clients/package-lock.json" npm --prefix tests/clients install --package-lock-only
	@$(STAGE) "tests/clients/package-lock.json for other systems" $(BIN)/python scripts/complete_lock.py tests/clients/package-lock.json

wheel: setup ## build the wheel into dist/
	@$(STAGE) "Wheel in dist/" $(BIN)/python -m hatchling build -t wheel

release: setup ## build and test the wheel and source archive of VERSION and write the changelog heading; uploads nothing
	@$(BIN)/python scripts/release.py "$(VERSION)"

clean: ## remove everything that these commands created
	rm -rf .venv build dist web/node_modules tests/clients/node_modules src/airboss/static .pytest_cache .ruff_cache .hypothesis .import_linter_cache

# The stages of setup.

python: $(PYTHON_READY) ## create the virtual environment from the lock file
web: $(PAGES) ## build the front-end pages
docs: $(DOCS) ## build the documentation for /docs; fails on broken links
runtime: $(PYTHON_READY) ## install the agent runtime
	@$(STAGE) "Agent runtime" $(BIN)/airboss setup
bubblewrap:
	@$(STAGE) "Bubblewrap for cages" bash scripts/bubblewrap.sh
browser:
	@$(STAGE) "Chromium for the browser tests" bash scripts/chromium.sh
postgres: ## find PostgreSQL for the tests, or install Debian's
	@$(STAGE) "PostgreSQL for the tests" bash scripts/postgres.sh
clients: $(CLIENTS_READY)

# Apart from the other checks: it takes longer than all of them, and may run beside the rest of setup.
types: $(PYTHON_READY) $(NODE_READY)
	@$(STAGE) "types" web/node_modules/.bin/pyright --threads 2

# pytest compiles tests in its own way. Once before is less work than in each of its processes.
compiled: $(PYTHON_READY) $(PAGES) $(DOCS)
	@$(STAGE) "Compiled tests" $(BIN)/pytest -q --collect-only

COMPILE := $(BIN)/uv pip compile --quiet --upgrade --universal --generate-hashes --python-version 3.11 \
	--no-emit-index-url --no-annotate --no-header
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

$(PYTHON_READY): requirements/dev.txt pyproject.toml hatch_build.py scripts/packages.sh
	@test -n "$(PYTHON)" || { echo "Airboss needs Python 3.11 or newer; none was found. Set PYTHON=/path/to/python."; exit 1; }
	@test -x $(BIN)/python || $(STAGE) "Virtual environment in .venv" $(PYTHON) -m venv .venv
	@$(STAGE) "Python packages" bash scripts/packages.sh requirements/dev.txt
	@$(STAGE) "Airboss itself" $(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

$(NODE_READY): web/package.json web/package-lock.json
	@node -e 'process.exit(+(process.versions.node.split(".")[0] < 20))' 2>/dev/null || \
		{ echo "Airboss builds its pages with Node.js 20 or newer; it was not found."; exit 1; }
	@$(STAGE) "Front end packages" npm --prefix web ci --no-audit --no-fund --ignore-scripts
	@touch $@

$(CLIENTS_READY): tests/clients/package.json tests/clients/package-lock.json
	@$(STAGE) "Generators of clients for the tests" npm --prefix tests/clients ci --no-audit --no-fund --ignore-scripts
	@touch $@

$(PAGES): $(NODE_READY) $(PAGE_SOURCES)
	@$(STAGE) "Front end pages" npm --prefix web run --silent build
	@touch $@

$(DOCS): $(PYTHON_READY) $(DOC_SOURCES)
	@$(STAGE) "Documentation" $(BIN)/python -m scripts.docs
	@touch $@
