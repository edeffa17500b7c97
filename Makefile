# make demo   installs what is missing, builds build/assay, and compares ResNet-18 on three backends
# make test   the same set-up, then the tests
# make fuzz   feeds readers and operations with changed inputs, under sanitizers, FUZZ_SECONDS for each target
# make arm    builds for aarch64 by a cross compiler, and runs unit tests and networks under QEMU (half an hour and more)
# make wheel  builds the Python package into build/wheel: *.whl, for any Linux of its tag
# make arm-wheel  the same for aarch64 into build/arm-wheel, by a cross compiler, and tries it under QEMU
# make sdist  packs the sources for pip into build/sdist: *.tar.gz, which pip builds on Debian 12 with what make has installed
# make site   makes the site of the documents into build/site/html, with a gallery of pictures
# make man    writes the pages of the manual into build/man; assay completion prints those for shells
# make format gives every C++ file the form of .clang-format
# make        builds
BUILD := build
JOBS := $(shell nproc)
# Some tests wait for the disk.
TEST_JOBS := $(shell expr $(JOBS) + 1)

FUZZ_SECONDS := 30
FUZZ := build-fuzz/tests/fuzz_targets

.PHONY: all arm wheel arm-wheel sdist demo test test-long test-foreign fuzz site man format clean setup-build setup-demo setup-test setup-arm

all: setup-build $(BUILD)/build.ninja
	@cmake --build $(BUILD) --target assay -j $(JOBS)

$(BUILD)/build.ninja:
	@cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release >/dev/null

setup-build setup-demo setup-test setup-arm: setup-%:
	@tools/setup.sh $*

demo: setup-demo $(BUILD)/build.ninja
	@cmake --build $(BUILD) --target assay -j $(JOBS)
	@tools/demo.sh $(BUILD)/assay

test: setup-test $(BUILD)/build.ninja
	@cmake --build $(BUILD) -j $(JOBS)
	@ASSAY_ONNXRUNTIME=$(CURDIR)/.venv tools/run_tests.py --test-dir $(BUILD) --output-on-failure -j $(TEST_JOBS) -LE long

test-long: setup-test $(BUILD)/build.ninja
	@cmake --build $(BUILD) -j $(JOBS)
	@ASSAY_ONNXRUNTIME=$(CURDIR)/.venv tools/run_tests.py --test-dir $(BUILD) --output-on-failure -L long -LE foreign

# Real models of others: some 270 MB of packages are downloaded into build/foreign on first use.
test-foreign: setup-test $(BUILD)/build.ninja
	@cmake --build $(BUILD) --target assay -j $(JOBS)
	@ASSAY_ONNXRUNTIME=$(CURDIR)/.venv tools/run_tests.py --test-dir $(BUILD) --output-on-failure --verbose -L foreign

# What reached new code stays in build-fuzz/corpus for the next time; inputs that showed a fault are in build-fuzz/faults.
fuzz: setup-test
	@cmake --preset fuzz >/dev/null
	@cmake --build --preset fuzz -j $(JOBS)
	@$(FUZZ) --list | xargs -P $(JOBS) -I {} $(FUZZ) --only {} --seconds $(FUZZ_SECONDS) --seed $$(date +%s) \
		--corpus build-fuzz/corpus --faults build-fuzz/faults

# Networks are compared with what this machine's own program and ONNX Runtime make of them.
arm: setup-arm $(BUILD)/build.ninja
	@cmake --build $(BUILD) --target assay -j $(JOBS)
	@cmake -S . -B build-arm -G Ninja -DCMAKE_BUILD_TYPE=Release --toolchain cmake/toolchains/aarch64-linux-gnu.cmake \
		-DASSAY_NATIVE=$(CURDIR)/$(BUILD)/assay >/dev/null
	@cmake --build build-arm --target arm -j $(JOBS)
	@ctest --test-dir build-arm -L arm --output-on-failure -j $(JOBS)

# Nothing is fetched: what builds it is in .venv. OpenMP's library is the one that the machine has (libgomp1), so that a
# process with other users of it has it once.
wheel: setup-test
	@rm -rf $(BUILD)/wheel
	@CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) .venv/bin/python -m build --wheel --no-isolation --outdir $(BUILD)/wheel/unrepaired .
	@PATH="$(CURDIR)/.venv/bin:$$PATH" .venv/bin/auditwheel repair --exclude libgomp.so.1 --wheel-dir $(BUILD)/wheel $(BUILD)/wheel/unrepaired/*.whl
	@rm -rf $(BUILD)/wheel/unrepaired && ls $(BUILD)/wheel

# For other processors what is needed is in .venv, too, but for the backend of nanobind, which a test has pip fetch.
ARM_WHEEL := build-arm-wheel
arm-wheel: setup-test setup-arm
	@rm -rf $(BUILD)/arm-wheel
	@CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) _PYTHON_HOST_PLATFORM=linux-aarch64 SKBUILD_BUILD_DIR=$(ARM_WHEEL) \
		SKBUILD_CMAKE_ARGS="--toolchain=$(CURDIR)/cmake/toolchains/aarch64-linux-gnu.cmake" \
		.venv/bin/python -m build --wheel --no-isolation --outdir $(BUILD)/arm-wheel/unrepaired .
	@PATH="$(CURDIR)/.venv/bin:$$PATH" LD_LIBRARY_PATH="$(CURDIR)/build-arm/sysroot/usr/lib/aarch64-linux-gnu" \
		.venv/bin/auditwheel repair --exclude libgomp.so.1 --wheel-dir $(BUILD)/arm-wheel $(BUILD)/arm-wheel/unrepaired/*.whl
	@rm -rf $(BUILD)/arm-wheel/unrepaired
	@tests/arm/wheel_test.py $(BUILD)/arm-wheel/*.whl build-arm/sysroot

sdist: setup-test
	@rm -rf $(BUILD)/sdist
	@.venv/bin/python -m build --sdist --no-isolation --outdir $(BUILD)/sdist .

# MkDocs and its theme come from PyPI, into an environment of their own; nothing of the site is fetched when it is read.
site: $(BUILD)/build.ninja
	@cmake --build $(BUILD) --target assay -j $(JOBS)
	@test -x $(BUILD)/site/env/bin/mkdocs || { python3 -m venv $(BUILD)/site/env && $(BUILD)/site/env/bin/pip install --quiet -r tools/requirements-site.txt; }
	@$(BUILD)/site/env/bin/python tools/site.py $(BUILD)/assay $(BUILD)/site

man: all
	@$(BUILD)/assay completion man -o $(BUILD)/man

format:
	@python3 tests/format/format_test.py $(CURDIR) --write

clean:
	@rm -rf $(BUILD)
