# make demo    install, ask the default model and a baseline, probe the model's layers, and write the report
# make check   install, run the linters and the tests that need no model and no browser: about a minute
# make test    install, programs that tests need included (SYSTEM=no: without), run the tests
# make docs    install, build the documentation site into site/
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# The versions that the tests passed with; pyproject.toml says which others may be used. Empty: the newest of these.
CONSTRAINTS ?= --constraint constraints.txt
INSTALL := $(BIN)/python tools/install.py $(CONSTRAINTS) --editable
# A test worker per core, four at most (each needs 1.5 GB), with one thread each. Every worker starts with a stretch of
# the tests in their order, so that fixtures of a file are made once, and takes over from a slower one at the end.
WORKERS ?= -n logical --maxprocesses 4 --dist worksteal

# yes: `make test` installs the programs that some tests need, such as a browser; no: those tests are skipped.
SYSTEM ?= yes
PROGRAMS := $(if $(filter no,$(SYSTEM)),,system)

.PHONY: demo check check-tests test test-all lint docs index messages bench fuzz constraints system clean

# First figures soon after the install, then the finding: what the model does not say of sizes, its layers hold.
# The first look stays outside of runs/, whose page, comparisons and site are of the larger sample.
DEMO := $(BIN)/seesay probe smollm2 baseline:majority
demo: $(VENV)/.models
	$(DEMO) --limit 10 --output first-look
	@echo "That was a sample of 10 questions per task, hence the wide intervals. Now 60 per task, and all 600 about sizes:"
	$(DEMO) --task core-color,core-space,core-parts --limit 60 --output runs
	$(DEMO) --task core-size --output runs
	@echo "Do its vectors hold what it does not say of sizes? A linear probe of every layer, beside its controls:"
	$(BIN)/seesay probe smollm2 --how linear --layers all --seeds 3 --task core-size --output runs
	@echo "Next: open runs/report.html in a browser (the picture is under 'Layer by layer'); $(BIN)/seesay probe MODEL asks yours."

check-tests test test-all: export OMP_NUM_THREADS = 1

# The inner loop. mypy checks what has changed since it last ran; its first run takes minutes.
check: $(VENV)/.dev
	$(MAKE) --no-print-directory --jobs 2 --output-sync lint check-tests

check-tests: $(VENV)/.dev
	$(BIN)/python -m pytest $(WORKERS) -m "not slow and not seconds" --light --durations 3 --durations-min 1

test: $(VENV)/.dev $(PROGRAMS)
	$(BIN)/python -m pytest $(WORKERS) -m "not slow"

test-all: $(VENV)/.dev $(PROGRAMS)
	$(BIN)/python -m pytest $(WORKERS)

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/.dev
	$(BIN)/mkdocs build --strict

# What is written from the source: the index of the tasks that are files, and the tables of docs/json.md.
index: $(VENV)/.dev
	$(BIN)/python tools/task_index.py
	$(BIN)/python tools/json_tables.py

# The texts of the judge's page: collected, merged into the catalogues (to be translated by hand), compiled.
JUDGE := src/seesay/judge
LOCALE := $(JUDGE)/web/locale
messages: $(VENV)/.dev
	$(BIN)/pybabel -q extract -F $(LOCALE)/babel.cfg -k mark -k RequestRejectedError:2 -k InvalidAnswerError:1 -k MistakenAnswerError:1 --no-location -o $(VENV)/judge.pot $(JUDGE)
	$(BIN)/pybabel -q update -D judge -i $(VENV)/judge.pot -d $(LOCALE) --no-fuzzy-matching -w 120
	perl -ni -e 'print unless /^"(Report-Msgid-Bugs-To|POT-Creation-Date|PO-Revision-Date|Last-Translator|Language-Team|Generated-By):/' $(LOCALE)/*/LC_MESSAGES/judge.po
	$(BIN)/pybabel -q compile -D judge -d $(LOCALE)

# What is compared with: the last tag, or BEFORE=v0.1.0, a commit or another checkout. LOADED=yes: what people wait for
# is measured beside other programs as well, which the page shows below.
BEFORE ?=
LOADED ?=
BENCH = $(BIN)/python -m benchmarks.page $(if $(BEFORE),--before $(BEFORE))
bench: $(VENV)/.dev
	$(BENCH)
	$(if $(LOADED),$(BENCH) --loaded)

# Mutated files through every reader. What breaks one is kept in tests/fuzz/regressions and replayed by the tests.
# Every run draws other inputs, unless FUZZ_SEED says which.
FUZZ_SECONDS ?= 300
FUZZ_SEED ?=
fuzz: export OMP_NUM_THREADS = 1
fuzz: $(VENV)/.dev
	$(BIN)/python -m tests.fuzz.harness --seconds $(FUZZ_SECONDS) $(if $(FUZZ_SEED),--seed $(FUZZ_SEED))

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(None if (3, 11) <= sys.version_info < (3, 14) else "seesay needs Python 3.11 to 3.13, not " + sys.version.split()[0] + ": make PYTHON=python3.12 …")'
	@echo "Making a virtual environment in $(VENV): what follows is installed there."
	$(PYTHON) -m venv $(VENV)

$(VENV)/.models: $(VENV)/bin/python pyproject.toml constraints.txt
	@echo "Installing seesay with what runs models (PyTorch, transformers, …: 1.4 GB) into $(VENV)."
	$(INSTALL) '.[models]'
	touch $@

$(VENV)/.dev: $(VENV)/bin/python pyproject.toml constraints.txt
	@echo "Installing seesay with all its parts, the linters and what tests compare it with (about 4 GB) into $(VENV)."
	$(INSTALL) '.[dev]'
	touch $@ $(VENV)/.models

# The newest versions that pyproject.toml allows, to be kept once the tests pass with them.
constraints: clean
	$(MAKE) CONSTRAINTS= $(VENV)/.dev
	$(BIN)/python -m pip freeze --exclude-editable | sed 's/+cpu$$//' > constraints.txt
	touch $(VENV)/.models $(VENV)/.dev

# The programs that some tests need: .ci/system says which and why, and installs them where this is Debian and we may.
system:
	@.ci/system

clean:
	rm -rf $(VENV)
