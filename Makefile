# `make demo` and `make test` need Python 3.11+, Java 17+ and make; everything else is set up here, once.
.DEFAULT_GOAL := help
SHELL := bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Two workers, each with a Kafka of its own; tests/spread.py says who gets what.
SPREAD := $(BIN)/pytest -q -n 2 --dist loadfile --no-loadscope-reorder

.PHONY: help setup demo test check format lint types imports unit integration soak bench reference lock clean

help: ## Show this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

$(READY): requirements/dev.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Python 3.11 or newer is needed; set PYTHON=python3.11 (found: $$($(PYTHON) --version))"; exit 1; }
	@echo "== Python packages into $(VENV) (once, about 500 MB) =="
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --disable-pip-version-check --progress-bar on -q --require-hashes -r requirements/dev.lock
	@$(BIN)/python -m pip install --disable-pip-version-check -q --no-deps --no-build-isolation --no-index -e .
	@echo "== Jars (once, about 75 MB), and starts rehearsed from them (about 220 MB) =="
	@$(BIN)/orion jars fetch
	@touch $@

setup: $(READY) ## Install everything into .venv

demo: setup ## Run the music demo: a real pipeline that checks its own books
	@$(BIN)/orion demo music

# Types are looked at beside the tests.
check: setup ## The fast loop: format, lint, types, layers, unit tests
	@$(MAKE) --no-print-directory -j2 --output-sync=target format lint imports types unit

format: setup
	@$(BIN)/ruff format --check src tests bench examples
lint: setup
	@$(BIN)/ruff check src tests bench examples
types: setup
	@$(BIN)/mypy
imports: setup
	@$(BIN)/lint-imports
unit: setup
	@$(BIN)/pytest -q -m "not slow" tests/unit tests/test_house_rules.py --doctest-modules src/orion --ignore src/orion/demo -n 2

integration: setup
	@$(BIN)/pytest -q -m slow tests/unit -n 2
	@$(SPREAD) --durations=25 tests/integration tests/e2e tests/docs

test: check integration ## Everything, with real Kafka and Spark (what CI runs)

soak: setup ## What takes too long for make test: 200 kill strikes, 1,000 random queries and 200 of live topics, tests/soak
	@SOAK_STRIKES=200 $(SPREAD) tests/integration/test_kill.py --timeout 7200
	@$(BIN)/pytest -q tests/soak
	@SOAK_QUESTIONS=1000 $(BIN)/pytest -q tests/integration/test_sql_differential.py --timeout 7200
	@SOAK_LIVE_QUESTIONS=200 $(BIN)/pytest -q tests/integration/test_sql_differential_live.py --timeout 7200

bench: setup ## Throughput, CPU and latency against Spark's own sink, interleaved
	@$(BIN)/python -m bench

reference: setup ## Write the pages that are made from the program
	@$(BIN)/python -m orion.sql.function.reference > docs/sql-functions.md

lock: ## Write the hashed locks anew (no index addresses in them)
	@$(BIN)/uv pip compile -q --universal --generate-hashes --no-header --python-version 3.11 --extra dev pyproject.toml -o requirements/dev.lock
	@$(BIN)/uv pip compile -q --universal --generate-hashes --no-header --python-version 3.11 pyproject.toml -o requirements/run.lock

clean: ## Remove the environment and caches of tools
	@rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis dist
