# make demo   installs what is missing, builds build/assay, and compares ResNet-18 on three backends
# make test   the same set-up, then the tests
# make        builds
BUILD := build
JOBS := $(shell nproc)

.PHONY: all demo test test-long test-foreign clean setup-build setup-demo setup-test

all: setup-build $(BUILD)/build.ninja
	@cmake --build $(BUILD) --target assay -j $(JOBS)

$(BUILD)/build.ninja:
	@cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release >/dev/null

setup-build setup-demo setup-test: setup-%:
	@tools/setup.sh $*

demo: setup-demo $(BUILD)/build.ninja
	@cmake --build $(BUILD) --target assay -j $(JOBS)
	@ASSAY_ONNXRUNTIME=$(CURDIR)/.venv tools/demo.sh $(BUILD)/assay

test: setup-test $(BUILD)/build.ninja
	@cmake --build $(BUILD) -j $(JOBS)
	@ASSAY_ONNXRUNTIME=$(CURDIR)/.venv ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS) -LE long

test-long: setup-test $(BUILD)/build.ninja
	@cmake --build $(BUILD) -j $(JOBS)
	@ASSAY_ONNXRUNTIME=$(CURDIR)/.venv ctest --test-dir $(BUILD) --output-on-failure -L long -LE foreign

# Real models of others: some 270 MB of packages are downloaded into build/foreign on first use.
test-foreign: setup-test $(BUILD)/build.ninja
	@cmake --build $(BUILD) --target assay -j $(JOBS)
	@ASSAY_ONNXRUNTIME=$(CURDIR)/.venv ctest --test-dir $(BUILD) --output-on-failure --verbose -L foreign

clean:
	@rm -rf $(BUILD)
