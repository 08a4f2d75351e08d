# make demo: sets everything up and runs real images through the JPEG decoder's net.
# make test: sets everything up and runs the tests.      make bench: the speed figures.
# make lint: formatting and likely mistakes, which make test looks for too.
# Everything built lands in build/; BUILD=... names another folder, JOBS=... the parallel jobs.

BUILD ?= build
JOBS ?= $(shell nproc)
PACKAGES := g++ cmake ninja-build libfmt-dev doctest-dev libboost-dev libxxhash-dev libz3-dev \
            libglpk-dev nlohmann-json3-dev pybind11-dev python3-dev libjpeg62-turbo-dev \
            python3-click python3-rich python3-pytest python3-distributed python3-matplotlib \
            python3-numpy python3-scipy python3-pil python3-sklearn python3-sympy python3-z3 python3-pyelftools cvc5 \
            gtkwave python3-protobuf protobuf-compiler
# Beside these: for the page of lpn viz, where there is no npm yet, and to test it in a browser. The demo
# needs neither.
BUILD_PACKAGES := $(if $(shell command -v npm),,nodejs npm)
LINT_PACKAGES := clang-format clang-tidy black python3-flake8 mypy
TEST_PACKAGES := chromium chromium-driver libbpf1 python3-clang python3-selenium $(LINT_PACKAGES)
LPN := $(BUILD)/bin/lpn
DEMO := models/jpeg/demo

# What the command line needs; tests need everything.
TOOLS := _lpn models_native lpn_run

.PHONY: demo test test-slow bench lint tools page build configure setup clean

# Compiled simulators are kept in the build folder, so that a demo leaves nothing elsewhere.
export LPN_CACHE ?= $(abspath $(BUILD))/lpn-cache

WANTED = $(PACKAGES) $(MORE)
build: WANTED = $(PACKAGES) $(BUILD_PACKAGES) $(MORE)
test test-slow: MORE = $(TEST_PACKAGES)
bench: MORE = $(BUILD_PACKAGES) $(TEST_PACKAGES)
lint: MORE = $(LINT_PACKAGES)

demo: tools
	@echo "== A hardware JPEG decoder (ultraembedded core_jpeg) as a Latency Petri Net, against its RTL =="
	@$(LPN) validate jpeg --truth $(DEMO)/cycles.csv --inputs $(DEMO) --all
	@echo
	@echo "== Where the cycles of one image go =="
	@$(LPN) sim jpeg $(DEMO)/plasma12_512x384_q50_420.jpg --stats --engine compiled
	@echo
	@echo "The model is models/jpeg/model.py. Your own image: $(LPN) sim jpeg IMAGE.jpg"

test: build
	cd $(BUILD) && ctest --output-on-failure -j $(JOBS)

# The long fuzzing runs too.
test-slow: build
	cd $(BUILD) && ctest -C slow --output-on-failure -j $(JOBS)

bench: tools page
	LPN_BUILD=$(abspath $(BUILD)) /usr/bin/python3 testbenches/speed/bench.py
	LPN_BUILD=$(abspath $(BUILD)) /usr/bin/python3 testbenches/speed/proofs.py
	LPN_BUILD=$(abspath $(BUILD)) /usr/bin/python3 testbenches/speed/pages.py
	LPN_BUILD=$(abspath $(BUILD)) /usr/bin/python3 testbenches/speed/waves.py
	LPN_BUILD=$(abspath $(BUILD)) /usr/bin/python3 testbenches/speed/fit.py

lint: configure
	/usr/bin/python3 testbenches/lint/lint.py
	/usr/bin/python3 testbenches/lint/lint.py clang-tidy --build $(BUILD)

tools: configure
	@cmake --build $(BUILD) -j $(JOBS) --target $(TOOLS)

page: configure
	@cmake --build $(BUILD) -j $(JOBS) --target lpn_page

build: configure
	@cmake --build $(BUILD) -j $(JOBS)

configure: setup
	@cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release >$(BUILD).configure.log 2>&1 || \
	  { cat $(BUILD).configure.log; exit 1; }
	@rm -f $(BUILD).configure.log

# Debian packages by name, only those that are missing, as root or through sudo.
setup:
	@missing=$$(for p in $(WANTED); do \
	    dpkg-query -W -f '$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || echo $$p; done); \
	 if [ -n "$$missing" ]; then \
	   echo "Installing Debian packages:" $$missing; \
	   if [ "$$(id -u)" = 0 ]; then as_root=""; \
	   elif command -v sudo >/dev/null; then as_root=sudo; \
	   else echo "error: run as root, or install them yourself: apt-get install" $$missing; exit 1; fi; \
	   $$as_root apt-get update -q && \
	   $$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $$missing; \
	 fi

clean:
	rm -rf $(BUILD)
