# make setup | demo | test | test-long | bench | web      (Python 3.11 or newer with venv; nothing else)
PYTHON ?= python3
BIN := .venv/bin

.PHONY: setup demo test test-long lint browser bench web clean

setup: .venv/.done

.venv/.done: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "polhode needs Python 3.11 or newer; $(PYTHON) is older. Try: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

demo: setup
	$(BIN)/polhode demo

lint: setup
	$(BIN)/ruff check .
	$(BIN)/lint-imports

browser:
	@sh tests/browser/install.sh

test: lint browser
	$(BIN)/pytest -n 2 -m 'not slow'

test-long: lint browser
	$(BIN)/pytest -n 2

bench: setup
	$(BIN)/python benchmarks/single.py

web:   # for developers: rebuilds the viewer in src/polhode/view/static; needs node
	cd web && npm ci --ignore-scripts --no-audit --no-fund && npm run build

clean:
	rm -rf .venv dist build polhode-demo
