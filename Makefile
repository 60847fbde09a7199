# Thin on purpose: each target says in a line what CMake or a tool is asked to do.
.PHONY: study test check bench fuzz clean help
.DEFAULT_GOAL := help

help:
	@echo "make study   set up, build, and run the default study"
	@echo "make test    set up, build, and run all tests"
	@echo "make check   format, clang-tidy, layers"
	@echo "make bench   speed, as a share of what the machine can do"
	@echo "make fuzz    all fuzzers, SECONDS each (default 600)"

study:
	tools/setup
	cmake --preset release
	cmake --build --preset release --target buoy
	build/release/bin/buoy study studies/default.toml

test:
	tools/setup
	-tools/fetch_tokenizers
	cmake --preset dev
	cmake --build --preset dev
	tools/compile_cuda
	tools/check_layers
	ctest --preset dev --parallel $$(nproc)

check:
	tools/setup check
	tools/check_layers
	tools/check_format
	tools/check_tidy

bench:
	tools/setup
	-tools/fetch_tokenizers
	cmake --preset release
	cmake --build --preset release --target buoy_bench
	build/release/bin/buoy_bench --json build/bench.json

SECONDS ?= 600
fuzz:
	tools/setup fuzz
	cmake --preset fuzz
	cmake --build --preset fuzz
	tools/run_fuzzers build/fuzz $(SECONDS)

clean:
	rm -rf build
