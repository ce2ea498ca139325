# `make run` and `make test` need Python 3.11 (with venv) and make, nothing else: whatever is missing
# is installed into .venv, from the lock file, by the first target that wants it.
#
#   make run [WIKI=folder] [WORDS="first question"]   index a folder, ask it something, keep watching
#   make test      everything            make quick   without the tests marked slow, under a minute;
#                  both in two processes (TESTS="arguments" for pytest, say TESTS=tests/core)
#   make lint      ruff and mypy         make bench   [BENCH="arguments"]  the measures, as ratios
#   make lock      renew requirements.lock (needs uv)

PYTHON ?= $(shell command -v python3.11 || command -v python3)
WIKI ?= docs
# zsh and dash hand over the ~ of WIKI=~/notes as it is typed.
override WIKI := $(if $(filter ~/%,$(WIKI)),$(HOME)/$(patsubst ~/%,%,$(WIKI)),$(WIKI))
WORDS ?= $(if $(filter docs docs/,$(WIKI)),share an index with a group)
BENCH ?=
TESTS ?=

# A file is run by one process: its tests share a daemon, and what they count on is theirs alone.
PYTEST = "$(BIN)/python" -m pytest --numprocesses 2 --dist loadfile

# What was typed reaches the shell as values, whatever quotes are in it.
export WIKI WORDS
# The first question; without words, the newest pages.
FIRST = $(if $(WORDS),search --limit 3 "$$WORDS",pages --limit 3)
TOLD = $(if $(WORDS),search --limit 3 $$WORDS,pages --limit 3)

BIN := $(CURDIR)/.venv/bin
INSTALLED := .venv/installed

.NOTPARALLEL:
.PHONY: run test quick lint bench lock clean

$(INSTALLED): requirements.lock pyproject.toml
	@"$(PYTHON)" -c 'import sys; sys.exit("Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11" if sys.version_info < (3, 11) else 0)'
	"$(PYTHON)" -m venv .venv
	"$(BIN)/python" -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.lock
	"$(BIN)/python" -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

run: $(INSTALLED)
	@"$(BIN)/indexerd" build "$$WIKI"
	@echo
	@printf '%s\n' "$$ wikiq $(TOLD)"
	@cd "$$WIKI" && "$(BIN)/wikiq" $(FIRST) || true  # nothing found is an answer too
	@echo
	@echo 'From now on the folder is watched, until Ctrl-C. What to type next, in another terminal:'
	@echo
	@cd "$$WIKI" && echo "    cd '$$PWD'"
	@echo '    $(BIN)/wikiq WORDS...     pages that answer, each with the section that explains it'
	@echo '    $(BIN)/wikiq show PAGE    a page, or a section of it: PAGE#section'
	@echo '    $(BIN)/wikiq status       how far the index has got'
	@echo
	@"$(BIN)/indexerd" run "$$WIKI"

test: $(INSTALLED)
	@$(PYTEST) $(TESTS)

quick: $(INSTALLED)
	@$(PYTEST) -m "not slow" $(TESTS)

lint: $(INSTALLED)
	"$(BIN)/ruff" check .
	"$(BIN)/ruff" format --check .
	"$(BIN)/mypy"

bench: $(INSTALLED)
	@"$(BIN)/python" -m tests.benchmarks $(BENCH)

# Universal: one file for every platform. No index address: where packages come from is the
# machine's business, the hashes say which ones they are.
lock:
	uv pip compile --quiet --universal --python-version 3.11 --extra dev --upgrade --generate-hashes \
		--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" \
		--output-file requirements.lock pyproject.toml

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis dist build
