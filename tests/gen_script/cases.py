"""Command lines of `run` that programs of --gen-script have to equal, and the files that they work on."""

DYNAMIC = """<ir_version: 8, opset_import: ["" : 17]>
g (float[n,4] x) => (float[n,4] y, float[n,4] z) <float[4,4] w = {0.5, -1, 2, 0.25, 1, 1, -3, 0.125, 2, 2, 2, 2, -1, 0, 1, 0}> {
  [first] a = MatMul (x, w)
  [second] y = Relu (a)
  [third] z = Tanh (a)
}
"""
IDENTITY = """<ir_version: 8, opset_import: ["" : 17]>
g (float[1,3,4] x) => (float[1,3,4] y) {
  a = Identity (x)
  y = Identity (a)
}
"""
SCALE = """<ir_version: 8, opset_import: ["" : 17, "test.everything" : 1]>
g (float[1,3,4] x) => (float[1,3,4] y) {
  a = test.everything.Scale <factor: float = 3.0> (x)
  y = Relu (a)
}
"""
INTEGERS = """<ir_version: 8, opset_import: ["" : 17]>
g (int32[8] i, float[8] f) => (int32[8] j, float[8] g) {
  j = Add (i, i)
  g = Abs (f)
}
"""
# A name with everything that a shell, Python or C++ gives a meaning to.
ODD = "we\"ird 'name' \\n \n ??= \t{0} %s $HOME ö☃ \\"

FILES = {
    "dynamic.onnxtxt": DYNAMIC,
    "identity.onnxtxt": IDENTITY,
    "integers.onnxtxt": INTEGERS,
    "scale.onnxtxt": SCALE,
    ODD + ".onnxtxt": DYNAMIC,
    "scripts.py": '''
import numpy as np

def load_data():
    for i in range(2):
        yield {"x": np.full((2, 4), i + 0.5, dtype=np.float32)}

def other_data():
    yield {"x": np.full((3, 4), 7, dtype=np.float32)}

def postprocess_outputs(result):
    return {name: np.round(value) for name, value in result.items()}

def compare_outputs(a, b):
    return {name: np.allclose(a[name], b[name], atol=1e-3) for name in a}

def never(a, b):
    return {name: False for name in a}
''',
    "runner.py": '''
import numpy as np

class Runner:
    def __init__(self, model, shift="0"):
        self.shift = float(shift)

    def infer(self, feed):
        w = np.array([0.5, -1, 2, 0.25, 1, 1, -3, 0.125, 2, 2, 2, 2, -1, 0, 1, 0], dtype=np.float32).reshape(4, 4)
        a = feed["x"] @ w + np.float32(self.shift)
        return {"y": np.maximum(a, 0), "z": np.tanh(a)}
''',
    "trt_scripts.py": '''
import tensorrt as trt
from polygraphy import func
from polygraphy.backend.trt import CreateConfig, CreateNetwork

@func.extend(CreateNetwork())
def make(builder, network):
    x = network.add_input("x", trt.float32, (2, 4))
    y = network.add_activation(x, trt.ActivationType.RELU).get_output(0)
    y.name = "y"
    network.mark_output(y)

@func.extend(CreateConfig())
def load_config(builder, network, config):
    config.builder_optimization_level = 0

@func.extend(CreateConfig())
def other_config(builder, network, config):
    config.set_flag(trt.BuilderFlag.FP16)
    config.builder_optimization_level = 0

def postprocess(network):
    last = network.get_output(0)
    network.unmark_output(last)
    negated = network.add_unary(last, trt.UnaryOperation.NEG).get_output(0)
    negated.name = "negated"
    network.mark_output(negated)

def doubled(network):
    last = network.get_output(0)
    network.unmark_output(last)
    twice = network.add_elementwise(last, last, trt.ElementWiseOperation.SUM).get_output(0)
    twice.name = "twice"
    network.mark_output(twice)

def postprocess_config(builder, network, config):
    # All of it is there, profiles included; the network is the changed one.
    assert config.builder_optimization_level == 1 and config.get_flag(trt.BuilderFlag.FP16)
    assert config.num_optimization_profiles == 1 and network.get_output(1).name == "twice", network.get_output(1).name
    config.builder_optimization_level = 0
    config.clear_flag(trt.BuilderFlag.FP16)
''',
}

# Made by `run` before the cases.
PREPARE = [
    ["dynamic.onnxtxt", "--engine", "--seed", "3", "--iterations", "2", "--save-inputs", "inputs.json", "--save-outputs", "golden.json"],
    ["dynamic.onnxtxt", "--ref", "--seed", "4", "--iterations", "2", "--save-inputs", "input_folder", "--save-outputs", "other_folder"],
    ["integers.onnxtxt", "--ref", "--save-outputs", "integers.json"],
    ["dynamic.onnxtxt", "--trt", "--trt-min-shapes", "x:[1,4]", "--trt-opt-shapes", "x:[2,4]", "--trt-max-shapes", "x:[8,4]", "--save-engine",
     "saved.plan", "--builder-optimization-level", "0"],
]

PREPARE_WITH_MODULE = [["scale.onnxtxt", "--trt", "--save-engine", "scale.plan", "--builder-optimization-level", "0"]]

# Name: words behind `run`.
CASES = {
    "verdict": "dynamic.onnxtxt --engine --ref --save-verdict v.json --input-shapes x:[5,4]",
    "unjudged": "dynamic.onnxtxt --load-outputs integers.json --arbiter --partial --iterations 1",
    "traced": "dynamic.onnxtxt --engine --arbiter-samples 4 --onnx-outputs * --ref-precision stored --load-inputs inputs.json",
    "saving": ("dynamic.onnxtxt --engine --trt --iterations 3 --seed 5 --val-range [-1,1] x:[-2,2.5] --save-inputs in_folder --save-outputs out.json "
               "--save-input-blob blobs --save-accuracy-results a.json --validate --threads 1"),
    "functions": ("dynamic.onnxtxt --engine --ref --compare simple l2 cosine_similarity psnr snr --atol 1e-3 y:1 z:0.25 --rtol *:0.5 --check-error-stat y:max mean "
                  "--l2-threshold y:1 2 --cosine-similarity-threshold 0.9 --psnr-threshold z:20 --snr-threshold inf --no-shape-check "
                  "--infinities-compare-equal"),
    "failing": "dynamic.onnxtxt --engine --load-inputs input_folder --load-outputs golden.json --fail-fast --atol 1e-9 --rtol 0",
    "average": "dynamic.onnxtxt --engine --ref --check-average --check-error-stat quantile --error-quantile 0.75 --save-accuracy-results average.json",
    "judged_files": "dynamic.onnxtxt --load-inputs inputs.json --load-outputs golden.json golden.json --arbiter --no-trace --no-excuse sums winograd",
    "judged_wrong": "dynamic.onnxtxt --load-inputs inputs.json --load-outputs other_folder --arbiter --partial --save-verdict wrong.json",
    "files_alone": "--load-outputs golden.json other_folder",
    "sequential": "dynamic.onnxtxt --engine --ref --sequential-runners --warm-up 2 --iterations 2 --save-outputs seq_folder --save-inputs seq_in.json --validate",
    "subprocess": "dynamic.onnxtxt --engine --ref --use-subprocess",
    "indices": "dynamic.onnxtxt --engine --ref --postprocess y:top-2,axis=1 top-1 --compare indices --index-tolerance 1 y:0",
    "one_axis": "dynamic.onnxtxt --engine --ref --postprocess top-3",
    "ranges": "integers.onnxtxt --engine --ref --int-min -7 --int-max 9 --float-min 1.5 --save-inputs ranges.json",
    "pictures": "dynamic.onnxtxt --engine --ref --save-heatmaps heat --save-error-metrics-plot plots",
    "built": ("dynamic.onnxtxt --trt --ref --trt-min-shapes x:[1,4] --trt-opt-shapes x:[2,4] --trt-max-shapes x:[8,4] --trt-min-shapes x:[2,4] "
              "--trt-opt-shapes x:[3,4] --trt-max-shapes x:[4,4] --optimization-profile 1 --input-shapes x:[3,4] --fp16 --builder-optimization-level 0 "
              "--pool-limit workspace:64M --save-tactics t.json --save-timing-cache c.cache --save-engine e.plan --explain --max-edits 100 --verify-passes "
              "--refittable --trt-outputs y z --trt-exclude-outputs z"),
    "calibrated": ("dynamic.onnxtxt --trt --engine --int8 --compare snr --snr-threshold 10 --calib-base-cls IInt8LegacyCalibrator --quantile 0.99 --calibration-cache scales.cache --iterations 2 "
                   "--builder-optimization-level 0"),
    "plan": "saved.plan --trt --engine",
    "changed": ("dynamic.onnxtxt --engine --ref --onnx-outputs a re:y --save-onnx changed.onnx --fp-to-fp16 --shape-inference --save-external-data w.bin "
                "--external-data-size-threshold 16"),
    "by_type": "dynamic.onnxtxt --engine --ref --onnx-outputs-by-type Tanh MatMul --onnx-exclude-outputs a",
    "logged": "dynamic.onnxtxt --ref --log-file log.txt --log-format no-colors -v -v --verbosity WARNING run:INFO --memory-limit 600M",
    "silent": "dynamic.onnxtxt --ref --silent",
    "missing": "nowhere.onnx --ref",
    "no_inputs": "dynamic.onnxtxt --ref --load-inputs nowhere.json",
    "bad_output": "dynamic.onnxtxt --ref --onnx-outputs nothing",
}
WITH_MODULE = {"module": "identity.onnxtxt --engine --ref --append-scale --factor 5 --everything-words a b --save-outputs o.json",
               # A plugin in TensorRT's sense: the plan needs the module again.
               "plugin": "scale.onnxtxt --trt --ref --save-engine plugin.plan --builder-optimization-level 0",
               "plugin_plan": "scale.plan --trt --save-outputs plugin.json"}
WITH_ONNXRT = {
    "onnxrt": "dynamic.onnx --onnxrt --onnxrt --engine --graph-optimization-level ORT_DISABLE_ALL --providers cpu --iterations 2 --onnx-outputs *",
}
WITH_NUMPY = {
    "scripts": ("dynamic.onnxtxt --ref --engine --data-loader-script scripts.py --postprocess-func-script scripts.py --compare-func-script scripts.py "
                "--save-inputs i.json"),
    "named": "dynamic.onnxtxt --ref --engine --data-loader-script scripts.py --data-loader-func-name other_data --compare-func-script scripts.py:never",
    "own_runner": "dynamic.onnxtxt --runner-script runner.py:Runner --runner-options shift=0.5 --ref",
    "configured": "dynamic.onnxtxt --trt --trt-config-script trt_scripts.py --ref",
    "changed": ("dynamic.onnxtxt --trt --trt-npps trt_scripts.py trt_scripts.py:doubled --trt-cpps trt_scripts.py --fp16 --builder-optimization-level 1 "
                "--save-outputs changed.json"),
    "made": ("trt_scripts.py --model-type trt-network-script --trt-network-func-name make --trt --ref --trt-config-script trt_scripts.py "
             "--trt-config-func-name other_config"),
}

# How those end that do not pass.
# What the command line finds before it says that it runs.
SEEN_BEFORE = {"no_inputs"}
STATUS = {"unjudged": 3, "failing": 1, "judged_wrong": 1, "files_alone": 1, "missing": 1, "no_inputs": 1, "bad_output": 1, "named": 1, "own_runner": 1}


def words_of(text):
    return text.split()


def odd_words():
    """Names that need care in every quotation."""
    return [ODD + ".onnxtxt", "--trt", "--ref", "--builder-optimization-level", "0", "--save-outputs", ODD + ".json", "--save-verdict", "line\nend.json", "--pin-tactics", ODD + "=gemv",
            "--save-input-blob=-blobs"]
