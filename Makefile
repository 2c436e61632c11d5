# make setup | demo | check | test | test-long | test-machines | docs | dist | fuzz | coverage | bench | web      (Python 3.11 or newer with venv; nothing else)
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# a file of tests is run by one of two workers, in the order of tests/conftest.py
PARALLEL := -n 2 --dist loadfile --no-loadscope-reorder
KERNELS := $(patsubst %,tests/%.py,engine/test_plain_python engine/test_integrate engine/test_stepper engine/test_flight \
  loads/test_torques show/test_poinsot exact/test_exact_free exact/test_exact_gyrostat exact/test_exact_top)
# one of each layer, none that starts many processes or compiles many methods
DAILY := $(patsubst %,tests/%.py,bodies/test_body bodies/test_mesh cli/test_cli core/test_lanes engine/test_adaptive \
  engine/test_integrate engine/test_stepper exact/test_exact_free io/test_config io/test_files io/test_hostile \
  methods/test_beyond_methods methods/test_buss_methods methods/test_compose methods/test_energy_preservation \
  show/test_poinsot show/test_view test_lie test_problems test_rotations test_translation)

.PHONY: setup demo check test tests test-long test-machines docs dist certificates verdicts fuzz coverage lint browser bench web clean

setup: .venv/.done

# the package with what it needs to run, which is all that the demo asks for
.venv/.demo: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "polhode needs Python 3.11 or newer; $(PYTHON) is older. Try: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv .venv
	$(PIP) --editable .
	@touch $@

# and the tools of development
.venv/.done: .venv/.demo
	$(PIP) --editable '.[dev]'
	@touch $@

demo: .venv/.demo
	$(BIN)/polhode demo

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/lint-imports
	$(BIN)/mypy

browser:
	@sh tests/show/browser/install.sh

# what one of these has compiled the others find
check test test-long docs: export POLHODE_CACHE_DIR ?= $(CURDIR)/.venv/compiled

check: lint   # for daily work; about a minute once the machine code is there
	$(BIN)/pytest $(PARALLEL) -m 'not slow' $(DAILY)

test: lint browser   # the documentation, most of which is one process, is built beside the tests
	@$(MAKE) --no-print-directory -j 2 tests docs

tests: setup
	$(BIN)/pytest $(PARALLEL) -m 'not slow'

test-long: lint browser
	$(BIN)/pytest $(PARALLEL)

test-machines: setup   # other processors, locales, users, Pythons, dependencies: ONLY="ascii blas" chooses, QUICK=1 runs a few tests
	$(BIN)/python tests/project/machines.py $(if $(QUICK),--quick) $(ONLY)

docs: setup   # docs/_build/html/index.html; every example runs, every warning is an error, every link must lead somewhere
	rm -rf docs/_build
	$(BIN)/sphinx-build -W --keep-going -q -j auto docs docs/_build/html
	$(BIN)/python docs/check_links.py docs/_build/html

dist: setup   # the sdist, and the wheel made of it, in dist/, checked as package indexes check them
	rm -rf dist
	$(BIN)/python -m build --no-isolation
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl

certificates: setup   # what the documentation says was measured of the methods; minutes
	$(BIN)/polhode certify --all --json > docs/data/certificates.json.new
	$(BIN)/python docs/_ext/machine.py > docs/data/certificates-machine.txt
	mv docs/data/certificates.json.new docs/data/certificates.json

verdicts: setup   # what the documentation says of the papers' claims; minutes
	$(BIN)/polhode reproduce all --quick --output docs/_build/papers
	$(BIN)/python docs/_ext/verdict_pages.py docs/_build/papers docs/data

fuzz: setup   # a million hostile inputs for all readers, by atheris; ten to thirty minutes, Linux with Python below 3.13
	$(BIN)/python tests/fuzz/run.py

coverage: setup   # what the tests reach: loops and kernels as Python, with the JIT off, then everything else with it
	$(BIN)/coverage erase
	NUMBA_DISABLE_JIT=1 $(BIN)/coverage run -m pytest -n 0 -m 'not slow' $(KERNELS)
	$(BIN)/coverage run -m pytest $(PARALLEL) -m 'not slow' --ignore tests/show/browser
	$(BIN)/coverage combine -q
	$(BIN)/coverage report --fail-under 90

bench: setup
	$(BIN)/python benchmarks/single.py

web:   # for developers: rebuilds the viewer in src/polhode/show/view/static; needs node
	cd web && npm ci --ignore-scripts --no-audit --no-fund && npm run build

clean:
	rm -rf .venv dist build polhode-demo polhode-fuzz docs/_build .coverage*
