# `make run` and `make test` need Python 3.11 (with venv) and make, nothing else: whatever is missing
# is installed into .venv, from a lock file, by the first target that wants it.
#
#   make run [WIKI=folder] [WORDS="first question"]   index a folder, search it, keep watching
#   make test       all tests              make quick   without the tests marked slow, about a minute;
#                   both in two processes (TESTS="arguments" for pytest, say TESTS=tests/core)
#   make coverage   all tests, and the lines of both programs that none of them reached
#   make lint       ruff and mypy          make bench   [BENCH="arguments"]  benchmarks, as ratios
#   make strangers  install the programs of others that some tests run (datasette, duckdb, zsh, ...)
#   make lock       renew both lock files (needs uv)

PYTHON ?= $(shell command -v python3.11 || command -v python3)
WIKI ?= docs
# zsh and dash hand over the ~ of WIKI=~/notes as it is typed.
override WIKI := $(if $(filter ~/%,$(WIKI)),$(HOME)/$(patsubst ~/%,%,$(WIKI)),$(WIKI))
WORDS ?= $(if $(filter docs docs/,$(WIKI)),why is a page not found)
BENCH ?=
TESTS ?=

# A file is run by one process: its tests share a daemon, and what they count on is theirs alone. The order
# is that of tests/conftest.py, slow files first.
PYTEST = "$(BIN)/python" -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder

# What was typed reaches the shell as values, whatever quotes are in it.
export WIKI WORDS

BIN := $(CURDIR)/.venv/bin
# Two stamps, one venv: what running needs is a part of what developing needs.
RUNNABLE := .venv/runnable
INSTALLED := .venv/installed
PIP = "$(BIN)/python" -m pip --quiet --disable-pip-version-check

.NOTPARALLEL:
.PHONY: run test quick coverage lint bench strangers lock clean

# $(call install,lock file,what for)
define install
	@"$(PYTHON)" -c 'import sys; sys.exit("Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11" if sys.version_info < (3, 11) else 0)'
	@echo 'Installing what $(2) needs into .venv (once) ...'
	@"$(PYTHON)" -m venv .venv
	@$(PIP) install --require-hashes --requirement $(1)
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@
endef

$(RUNNABLE): requirements-run.lock pyproject.toml
	$(call install,requirements-run.lock,running)

$(INSTALLED): requirements.lock pyproject.toml
	$(call install,requirements.lock,developing)
	@touch $(RUNNABLE)

run: $(RUNNABLE)
	@sh tests/tools/first_run.sh "$(BIN)" "$$WIKI" "$$WORDS"

test: $(INSTALLED)
	@$(PYTEST) $(TESTS)

quick: $(INSTALLED)
	@$(PYTEST) -m "not slow" $(TESTS)

coverage: $(INSTALLED)
	@rm -f .coverage .coverage.*
	@"$(BIN)/coverage" run -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder $(TESTS)
	@"$(BIN)/coverage" combine --quiet
	@"$(BIN)/coverage" report

lint: $(INSTALLED)
	"$(BIN)/ruff" check .
	"$(BIN)/ruff" format --check .
	"$(BIN)/mypy"

bench: $(INSTALLED)
	@"$(BIN)/python" -m tests.benchmarks $(BENCH)

# Each failure is told and passed over: a test that lacks its program is skipped with that reason.
strangers:
	@sh tests/tools/strangers.sh "$(PYTHON)"

# Universal: one file for every platform. No index address: where packages come from is the
# machine's business, the hashes say which ones they are. Running takes the versions that are tested.
LOCK = uv pip compile --quiet --universal --python-version 3.11 --upgrade --generate-hashes \
	--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock"
lock:
	$(LOCK) --extra dev --output-file requirements.lock pyproject.toml
	$(LOCK) --extra editable --constraint requirements.lock --output-file requirements-run.lock pyproject.toml

clean:
	rm -rf .venv .venv-strangers .coverage .coverage.* .mypy_cache .pytest_cache .ruff_cache .hypothesis dist build
