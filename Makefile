# `make` lists the targets. Each of them makes .venv by itself when it has to; PYTHON=/path/to/python chooses for it.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test integration package check bench soak docs

# Where Python may not keep bytecode, each of the programs that run here would compile all sources anew.
unexport PYTHONDONTWRITEBYTECODE

# A .venv that was moved, or whose Python is gone, is made again.
ifneq ($(wildcard .venv),)
stale := $(shell PYTHON="$(PYTHON)" .ci/bootstrap --usable || rm -f .venv/.installed .venv/.installed-*)
endif

# One worker more than processors: many tests wait for programs that take their time.
tests = @workers=$$(.venv/bin/python -c 'import os; print((os.cpu_count() or 1) + 1)'); \
	OPENBLAS_NUM_THREADS=1 .venv/bin/python -m pytest -q -m "$(1)" --numprocesses "$$workers" --dist loadfile --no-loadscope-reorder $(ARGUMENTS)

interpreter = @.venv/bin/python -c 'import platform, sys; print("elolab: Python", platform.python_version(), "of", sys.base_prefix)'

help:  ## list the targets
	@echo "elolab: tournaments, tuning and ablation of game engines"
	@echo
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1 :: \2/p' Makefile | awk -F ' :: ' '{ printf "%-18s  %s\n", $$1, $$2 }'
	@echo
	@echo "PYTHON=/path/to/python chooses the interpreter of .venv (CPython 3.11 to 3.14)."

demo: .venv/.installed  ## play a demonstration tournament of each game and write their reports
	$(interpreter)
	@.venv/bin/elolab compile
	@.venv/bin/elolab tournament configs/tournaments/demo-chess.toml --out "results/demo-chess-{identity}"
	@.venv/bin/elolab tournament configs/tournaments/demo-othello.toml --out "results/demo-othello-{identity}"
	@.venv/bin/elolab tournament configs/tournaments/demo.toml --out "results/demo-{identity}"

test: .venv/.installed-test  ## run the quick tests, some of every part
	$(interpreter)
	@.venv/bin/python -m tests.support.compiled_for_tests
	$(call tests,not slow and not packaging and not integration)

integration: .venv/.installed-test  ## run the tests of whole runs, and those with other programs, a browser or a database
	$(interpreter)
	@.venv/bin/python -m tests.support.compiled_for_tests
	@.venv/bin/elolab compile
	$(call tests,integration and not slow)

package: .venv/.installed-test  ## build wheel and sdist, and try both in empty environments
	$(interpreter)
	@.venv/bin/python -m pytest -q -m packaging tests/test_installed.py $(ARGUMENTS)

soak: .venv/.installed-test .venv/.installed-notebook  ## run the slow tests
	$(interpreter)
	@.venv/bin/python -m pytest -q -m slow --hypothesis-profile soak $(ARGUMENTS)

check: .venv/.installed-check  ## check format, style and types
	$(interpreter)
	@.venv/bin/python -m ruff format --check .
	@.venv/bin/python -m ruff check .
	@.venv/bin/python -m mypy

bench: .venv/.installed  ## measure the speed of the engine and the arena (ARGUMENTS: repeats of each)
	$(interpreter)
	@.venv/bin/elolab bench
	@set -e; for speed in search_speed othello_speed perft_speed arena_speed arena_cost startup; do \
		echo; echo "benchmarks/$$speed.py"; .venv/bin/python "benchmarks/$$speed.py" $(ARGUMENTS); \
	done

docs: .venv/.installed-docs  ## write generated pages and JSON schemas, then build the site in build/site
	@.venv/bin/python docs/site/claims_pages.py
	@.venv/bin/python docs/site/ablations_pages.py
	@.venv/bin/python -m elolab.tuning.keys.reference
	@.venv/bin/python docs/site/build.py build/site

.venv/.installed: pyproject.toml constraints.txt .ci/bootstrap
	@PYTHON="$(PYTHON)" .ci/bootstrap
	@touch $@

.venv/.installed-%: pyproject.toml constraints.txt .ci/bootstrap
	@PYTHON="$(PYTHON)" .ci/bootstrap $*
	@touch .venv/.installed $@
