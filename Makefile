# Thin on purpose: each target says in a line what CMake or a tool is asked to do.
.PHONY: program study quick install python test-python test-notebooks test-python-install wheel test test-heavy test-all check bench fuzz cross clean help
.DEFAULT_GOAL := help

help:
	@echo "make study      set up, build, and run the default study; CUDA=1: on an NVIDIA GPU"
	@echo "make quick      the same with a small study, two minutes at most after the build"
	@echo "make install    set up, build, and install below PREFIX (default /usr/local); CUDA=1 as above"
	@echo "make python     set up, and build the Python package in build/python/python (docs/python.md); CUDA=1 as above"
	@echo "make wheel      the same as a wheel in build/dist that carries its libraries"
	@echo "make test       set up, build, and run the tests"
	@echo "make test-all   the same, and the heavy tests (a browser, installing)"
	@echo "make check      format, clang-tidy, layers, no warning"
	@echo "make bench      speed, as a share of what the machine can do"
	@echo "make fuzz       all fuzzers, SECONDS each (default 600)"
	@echo "make cross      the tests on the other architecture, in an emulator"

# CUDA=1 chooses the build with GPU kernels; CUDA=0 and nothing the one without.
release := $(if $(filter-out 0,$(CUDA)),cuda-release,release)

program:
	tools/setup
	cmake --preset $(release)
	cmake --build --preset $(release) --target buoy

study: program
	build/$(release)/bin/buoy study studies/default.toml

quick: program
	build/$(release)/bin/buoy study studies/quick.toml

PREFIX ?= /usr/local
install: program
	cmake --install build/$(release) --prefix "$(PREFIX)"

# Which Python: BUOY_PYTHON=/path/to/python3, else the first one that has numpy.
python_preset := $(if $(filter-out 0,$(CUDA)),cuda-python,python)
python:
	tools/setup python
	cmake --preset $(python_preset)
	cmake --build --preset $(python_preset) --target buoy_python
	@echo "PYTHONPATH=$(CURDIR)/build/$(python_preset)/python"

wheel: python
	$$(cmake -L -N build/$(python_preset) | sed -n 's/^BUOY_PYTHON_FOUND:[A-Z]*=//p') python/make_wheel.py build/dist

test-python: python
	cmake --build --preset $(python_preset)
	ctest --preset python --parallel $$(nproc)

test:
	tools/setup test
	-tools/fetch_tokenizers
	cmake --preset dev
	cmake --build --preset dev
	tools/compile_cuda
	tools/check_layers
	ctest --preset dev --parallel $$(nproc)

# What `make test` leaves out: it takes long or needs much to be installed.
test-heavy: test
	tools/setup browser cluster
	tools/fetch_tokenizers all
	ctest --preset heavy --parallel $$(nproc)

test-all: test test-heavy test-python test-notebooks

# Those of examples/notebooks, from the first cell to the last.
test-notebooks: test-python
	ctest --preset python-heavy -R python_notebooks

# Builds the package twice more, by pip and as a wheel, and uses both elsewhere.
test-python-install: test-python
	ctest --preset python-heavy

check:
	tools/setup check
	tools/check_layers
	tools/check_format
	tools/check_tidy
	cmake --preset strict
	cmake --build --preset strict

bench:
	tools/setup bench
	-tools/fetch_tokenizers
	cmake --preset bench
	cmake --build --preset bench --target buoy_bench
	build/bench/bin/buoy_bench --json build/bench.json

SECONDS ?= 600
fuzz:
	tools/setup fuzz
	cmake --preset fuzz
	cmake --build --preset fuzz
	tools/run_fuzzers build/fuzz $(SECONDS)

cross:
	tools/cross_test

clean:
	rm -rf build
