# Every target sets up what it needs: a fresh machine has Python >= 3.11, make and a pip that finds its packages.
# What is installed is pinned in constraints.txt; a second call installs nothing.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# Part of the stamps' names, so that the installed version follows the one in the code.
VERSION := $(shell sed -n 's/^__version__ = "\(.*\)"/\1/p' src/ranksift/__init__.py)
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

# Idle threads of numerical libraries sleep, they do not spin: it matters on small machines.
export OMP_WAIT_POLICY := PASSIVE

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help demo test system coverage lint bench docs experiments pins clean

# A test process per core. They share the cores, so that a numerical library in one of them uses one thread.
PYTEST := $(BIN)/pytest --numprocesses auto --maxprocesses 8 --dist worksteal
test coverage: export OMP_NUM_THREADS := 1
test coverage: export OPENBLAS_NUM_THREADS := 1
TIMED := $(BIN)/python tests/timed.py

help:
	@echo "make demo         the whole story on built-in data"
	@echo "make test         style, types, import arrows, doctests and tests, and what each took"
	@echo "make coverage     doctests and tests, and the lines that none of them runs"
	@echo "make lint         style, types and import arrows only"
	@echo "make bench        side by side with other tools"
	@echo "make docs         the documentation, into site/"
	@echo "make experiments  the numbers that the documentation shows"
	@echo "make pins         constraints.txt anew, from the latest versions"
	@echo "make clean        remove everything that these make"

demo: $(VENV)/.label,report,serve,text-$(VERSION)
	@$(BIN)/ranksift demo

lint: $(VENV)/.dev-$(VERSION)
	@$(TIMED) --forget
	$(TIMED) "style: format" $(BIN)/ruff format --check .
	$(TIMED) "style: rules" $(BIN)/ruff check .
	$(TIMED) "types" $(BIN)/mypy
	$(TIMED) "import contracts" $(BIN)/lint-imports

test: lint system
	$(TIMED) "doctests and tests" $(PYTEST)
	@$(TIMED) --table

# A real browser and a real PostgreSQL server. Whoever may not install them sees which tests are skipped.
system:
	@if command -v chromium > /dev/null && ls /usr/lib/postgresql/*/bin/initdb > /dev/null 2>&1; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium postgresql > /dev/null; \
	else echo "note: no Chromium or no PostgreSQL, so that their tests are skipped: apt-get install chromium postgresql"; fi

coverage: $(VENV)/.dev-$(VERSION)
	$(PYTEST) --cov --cov-report=term

bench: $(VENV)/.bench-$(VERSION)
	$(BIN)/python -m benchmarks

docs: $(VENV)/.docs-$(VERSION)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

experiments: $(VENV)/.experiments-$(VERSION)
	$(BIN)/python -m experiments

clean:
	rm -rf $(VENV) build dist site .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	find src tests benchmarks docs experiments -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# -- set-up --------------------------------------------------------------------------------------------

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(f"Python {v[0]}.{v[1]} is too old: make PYTHON=python3.11 or later" if v < (3, 11) else 0)'
	$(PYTHON) -m venv --clear $(VENV)
	@touch $@

# The build back end is installed first and used as it is, so that it is pinned too.
$(VENV)/.base-$(VERSION): $(VENV)/.made pyproject.toml constraints.txt
	$(PIP_INSTALL) hatchling editables
	$(PIP_INSTALL) --no-build-isolation --editable .
	@touch $@

# A stamp is named by its extras.
$(VENV)/.%-$(VERSION): $(VENV)/.base-$(VERSION)
	$(PIP_INSTALL) --no-build-isolation --editable '.[$*]'
	@touch $@

pins:
	rm -rf build/pins
	$(PYTHON) -m venv build/pins
	build/pins/bin/pip install --quiet hatchling editables
	build/pins/bin/pip install --quiet --no-build-isolation '.[dev,docs,bench,report,trees,learn,text,label,serve,langchain,llamaindex,haystack,pyterrier,scale,experiments]'
	build/pins/bin/pip freeze --exclude ranksift > build/pins/constraints.txt
	@! grep -n '[@/]' build/pins/constraints.txt  # a pin is a name and a version, never a place
	{ echo '# Every package of every extra, exactly. Made by: make pins'; cat build/pins/constraints.txt; } > constraints.txt
