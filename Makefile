# Two commands do all the set-up: `make demo` and `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check

# Where this is set, every worker of the tests and every process that they start compiles afresh.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help demo test check docs audit vulnerabilities bench format lock system clean

help:
	@echo "make demo    a release of synthetic establishments, end to end, into the folder demo"
	@echo "make test    every test (installs Java, Chromium, strace, PostgreSQL, npm and R where it can)"
	@echo "make check   format check, lint, types, import contracts"
	@echo "make docs    the documents as a site, into build/site; every link is checked"
	@echo "make audit   every attempt to prove it wrong, into docs/assurance.md (over two hours)"
	@echo "make bench   every benchmark, compared with alternatives, into benchmarks/RESULTS.md (an hour, on a quiet machine)"
	@echo "make format  rewrite the files as make check wants them"
	@echo "make lock    resolve the dependencies afresh into the lock files"
	@echo "make vulnerabilities   compare the lock files with known vulnerabilities (network)"

# What the library needs to run, and the library itself.
$(VENV)/.runtime: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("perrecord needs Python 3.11 or newer; try: make PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --require-hashes -r requirements.lock
	$(PIP) --no-deps --no-build-isolation -e .
	touch $@

# What the tests and checks need on top of that.
$(VENV)/.dev: requirements-dev.lock $(VENV)/.runtime
	$(PIP) --require-hashes -r requirements-dev.lock
	touch $@

# A whole release of synthetic establishments, into the folder demo; what is there is kept.
demo: $(VENV)/.runtime
	PERRECORD=$(CURDIR)/$(BIN)/perrecord sh examples/business/run.sh demo

system:
	@sh tools/install-system-packages.sh

test: $(VENV)/.dev system
	$(BIN)/python -m pytest -n auto

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

docs: $(VENV)/.dev
	$(BIN)/python tools/site.py

audit: $(VENV)/.dev system
	$(BIN)/python tools/assurance.py

# pip-audit runs in an environment of its own. Strict: what could not be looked up is a failure.
PIP_AUDIT := $(BIN)/uv tool run pip-audit@2.10.1 --strict --require-hashes --disable-pip --progress-spinner off
vulnerabilities: $(VENV)/.dev
	$(PIP_AUDIT) --requirement requirements.lock
	$(PIP_AUDIT) --requirement requirements-dev.lock
	$(PIP_AUDIT) --requirement examples/gallery/environments/synthetic.lock
	$(PIP_AUDIT) --requirement examples/gallery/environments/tumult.lock

# Goes on when a benchmark misses a goal, and says so at the end.
bench: $(VENV)/.dev system
	$(BIN)/python benchmarks/results.py

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

GALLERY := examples/gallery/environments
UV_COMPILE := uv pip compile pyproject.toml --universal --generate-hashes --python-version 3.11 --quiet
lock: $(VENV)/.dev
	$(BIN)/$(UV_COMPILE) --group build --group dev --output-file requirements-dev.lock
	$(BIN)/$(UV_COMPILE) --group build --constraint requirements-dev.lock --output-file requirements.lock
	for each in tumult synthetic; do $(BIN)/uv pip compile $(GALLERY)/$$each.in --generate-hashes \
		--python-version 3.11 --quiet --output-file $(GALLERY)/$$each.lock; done

clean:
	rm -rf $(VENV)
