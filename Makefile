# neuropmd - the commands most people need; CMakeLists.txt does the work.
#
#   make                     build/neuropmd and the libraries, optimised; asks nothing of the network
#   make demo                install what is missing, build, fit the paper's T2 mixture, draw it
#   make test                install what is missing, build in three ways, run every test
#   make test-view           pages of all kinds in headless Chromium; PICTURES=DIR keeps screenshots
#   make test-cuda           build with CUDA, run what needs an NVIDIA card (skipped without one)
#   make fuzz SECONDS=300    every reader under libFuzzer, for so many seconds each (needs clang)
#   make check-deep          races, valgrind, asserts, gcc against clang, fuzzing (SECONDS=30 each) with coverage, kills and
#                            all else that takes long (CONTRIBUTING.md); SECTIONS="threads fuzz" runs some of it
#   make bench ARGS=--quick  speed of kernels, steps and evaluation on this machine (neuropmd bench)
#   make install PREFIX=DIR  program, libraries, headers, manual page (default /usr/local)
#   make deb                 the same as a Debian package, build/neuropmd_VERSION_ARCH.deb
#   make docs                install what is missing, build the documentation: build/site/index.html
#   make docs-test           every code block of the documentation at full size, also those on real data and those that take long
#   make gallery             the pictures of docs/gallery.md again, from $NEUROPMD_SHARED (default ../shared): half an hour
#   make rooms               docs/rooms.svg again, the picture of the folders of the source and who knows whom
#   make format, make check-format, make docs-man, make clean
#
# Variables: PREFIX, DESTDIR, JOBS (default: all cores), CMAKE_FLAGS (passed on, e.g. -DNPMD_STATIC_DEPS=ON), ARGS (of
# the benchmark).

PREFIX ?= /usr/local
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
CMAKE_FLAGS ?=
ARGS ?=
SECTIONS ?=
BUILD := build

.PHONY: all demo test test-view test-cuda fuzz check-deep bench install deb clean format check-format docs docs-test \
    docs-man gallery rooms

all: $(BUILD)/Makefile
	@cmake --build $(BUILD) --parallel $(JOBS)

$(BUILD)/Makefile: CMakeLists.txt
	@command -v cmake >/dev/null || { echo "cmake was not found; scripts/bootstrap.sh installs what is missing" >&2; exit 1; }
	@cmake -S . -B $(BUILD) -G "Unix Makefiles" -DCMAKE_BUILD_TYPE=Release $(CMAKE_FLAGS)

demo:
	@scripts/bootstrap.sh build
	@mkdir -p $(BUILD) && echo "building" && \
	    { $(MAKE) --no-print-directory all >$(BUILD)/demo.log 2>&1 || { tail -n 40 $(BUILD)/demo.log; exit 1; }; }
	@scripts/demo.sh $(BUILD)/neuropmd

test:
	@scripts/bootstrap.sh test
	@JOBS=$(JOBS) scripts/test.sh

test-view:
	@scripts/three.sh || true
	@$(MAKE) --no-print-directory all
	@tests/view/run.sh $(BUILD)/neuropmd all

test-cuda:
	@cmake -S . -B $(BUILD)/cuda -G "Unix Makefiles" -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=ON -DNPMD_CUDA=ON \
	    $(CMAKE_FLAGS)
	@cmake --build $(BUILD)/cuda --parallel $(JOBS) --target cuda_tests
	@ctest --test-dir $(BUILD)/cuda --label-regex '^cuda$$' --output-on-failure --no-tests=error

fuzz:
	@scripts/bootstrap.sh fuzz
	@JOBS=$(JOBS) scripts/fuzz.sh $(or $(SECONDS),300)

check-deep:
	@scripts/bootstrap.sh deep
	@JOBS=$(JOBS) FUZZ_SECONDS=$(or $(SECONDS),30) scripts/check-deep.sh $(SECTIONS)

bench:
	@mkdir -p $(BUILD) && { $(MAKE) --no-print-directory all >$(BUILD)/bench.log 2>&1 || \
	    { tail -n 40 $(BUILD)/bench.log >&2; exit 1; }; }
	@$(BUILD)/neuropmd bench $(ARGS)

install: all
	@DESTDIR="$(DESTDIR)" cmake --install $(BUILD) --prefix "$(PREFIX)"

deb:
	@scripts/bootstrap.sh package
	@cmake -S . -B $(BUILD)/deb -G "Unix Makefiles" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr $(CMAKE_FLAGS)
	@cmake --build $(BUILD)/deb --parallel $(JOBS)
	@cd $(BUILD)/deb && cpack -G DEB -D CPACK_OUTPUT_FILE_PREFIX="$(CURDIR)/$(BUILD)"

docs:
	@scripts/bootstrap.sh docs
	@mkdir -p $(BUILD) && { $(MAKE) --no-print-directory all >$(BUILD)/docs.log 2>&1 || \
	    { tail -n 40 $(BUILD)/docs.log >&2; exit 1; }; }
	@scripts/docs.sh $(BUILD)/neuropmd

docs-test: all
	@NPMD_DOCS_ALL=1 python3 tests/docs/run.py $(BUILD)/neuropmd

gallery: all
	@scripts/gallery.sh $(BUILD)/neuropmd

rooms: all
	@python3 scripts/rooms.py $(BUILD) --draw docs/rooms.svg

docs-man: all
	@echo "$(BUILD)/neuropmd.1 (read it with: man -l $(BUILD)/neuropmd.1)"

format:
	@scripts/format.sh

check-format:
	@scripts/format.sh --check

clean:
	@rm -rf $(BUILD) demo
