# All targets for developers; their logic is in `cargo xtask` and in Python.
PYTHON ?= python3
BIN := .venv/bin
export CARGO_TERM_COLOR ?= auto
# Tests start hundreds of Python processes: each would compile the package again without its caches.
export PYTHONDONTWRITEBYTECODE :=
.DEFAULT_GOAL := help
EXTRAS ?= dev
# More workers than cores, because some tests wait.
WORKERS ?= $(shell n=$$(nproc); echo $$((n < 7 ? n + 1 : 8)))
PYTEST := $(BIN)/pytest -q -n $(WORKERS) --dist loadfile
# Two targets at a time: one often waits for a package, a linker or its last test.
MAKEFLAGS += --jobs=2
.PHONY: help build setup demo test compiled-tests test-rust test-python test-studies test-heavy test-truth generate lint lint-rust lint-python bench \
  gate docs ci fuzz clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

.venv/installed: pyproject.toml
	@command -v cargo >/dev/null || { echo "Rust is missing: see README.md, Set-up"; exit 2; }
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check maturin==1.16.0
	touch $@

build: .venv/installed ## build homenode into .venv
	VIRTUAL_ENV=$(CURDIR)/.venv $(BIN)/maturin develop --release --quiet

.venv/studies: .venv/installed reproduction/pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --editable reproduction
	touch $@

setup: .venv/installed .venv/studies ## the same, with the tools for tests and lints
	VIRTUAL_ENV=$(CURDIR)/.venv $(BIN)/maturin develop --release --quiet --extras $(EXTRAS)

demo: build ## record a real program with 8 threads, simulate it, write demo/report.html
	$(BIN)/homenode demo -o demo

test: test-rust test-python ## run all tests of homenode but the heavy ones

# Compiling keeps all cores busy by itself, the last tests of either kind do not.
compiled-tests:
	cargo test --release --quiet --no-run

test-rust: compiled-tests
	cargo test --release --quiet

test-python: setup compiled-tests
	$(PYTEST) tests

test-studies: setup ## run the tests of homenode-studies
	$(PYTEST) reproduction/tests

test-heavy: compiled-tests ## model checks of all message orders, and a tree with added entries: many minutes
	cargo test --release --quiet --test heavy
	cargo test --release --quiet --test extending -- --ignored

test-truth: setup ## programs with known references, all compilers and levels, hooks and emulation: minutes
	$(BIN)/python tests/capture/truth/corpus.py

generate: setup ## write the types, page and schemas that are generated from the engines' options
	$(BIN)/python -m homenode.options.generate .

lint: lint-rust lint-python ## formatting, clippy, links of the documentation, tidy, ruff, types

# Maturin tells pyo3 about Python by these: without them pyo3, and what is built on it, would be
# compiled anew after every lint.
PYO3 = PYO3_BUILD_EXTENSION_MODULE=1 \
  $(addprefix PYO3_CONFIG_FILE=,$(firstword $(wildcard $(CURDIR)/target/maturin/pyo3-config-*.txt)))
# What `cargo clippy` sets: rustdoc's libraries are then those that clippy has checked.
CLIPPY = RUSTC_WORKSPACE_WRAPPER="$$(rustc --print sysroot)/bin/clippy-driver" \
  CLIPPY_ARGS=-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__

lint-rust:
	cargo fmt --all --check
	cargo xtask tidy
	$(PYO3) cargo clippy --release --quiet --workspace --all-targets -- -D warnings
	$(PYO3) $(CLIPPY) RUSTDOCFLAGS="-D warnings" cargo doc --release --quiet --no-deps

lint-python: setup
	$(BIN)/ruff check . && $(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest homenode._core --ignore-missing-stub

bench: setup ## measure speeds, sizes and memory; never part of the tests
	cargo bench --profile dist --quiet -p homenode-placement -p homenode-snoop -p homenode-directory -p homenode-sim
	$(BIN)/python benches/capture.py
	$(BIN)/python benches/record.py
	$(BIN)/python benches/side_by_side.py

gate: ## compare instructions per reference with benches/instructions.toml
	cargo xtask instructions

docs: EXTRAS = dev,docs
docs: setup ## build the documentation into docs/_build, warnings are errors
	$(BIN)/sphinx-build -q -W --keep-going docs docs/_build

fuzz: ## fuzz every decoder and importer for SECONDS each (default 60); needs cargo-fuzz
	for target in $$(cargo fuzz list); do \
	  cargo +nightly fuzz run $$target -- -max_total_time=$${SECONDS_EACH:-60} || exit 1; done

ci: EXTRAS = dev,docs
ci: test test-studies lint docs gate test-heavy ## what continuous integration runs

clean: ## remove everything that was built
	cargo clean
	rm -rf .venv demo docs/_build
