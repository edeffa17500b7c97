"""What introductions to inference engines have their readers do, on the installed package: command lines under the name `polygraphy`,
scripts, a plugin, TensorFlow beside others. The rest of such scenarios are the programs of examples/api (build and run, load and run,
comparing, validating, extend, networks from scratch), the tutorial of docs/guide/extensions.md (a loader, a runner and their options) and
tests/scenarios. A mixin for install_test.py."""

import os
import shlex
from pathlib import Path

SHAPES = "--trt-min-shapes 'tensor-0:[1,1,28,28]' --trt-opt-shapes 'tensor-0:[4,1,28,28]' --trt-max-shapes 'tensor-0:[16,1,28,28]' "
FED = "--input-shapes 'tensor-0:[4,1,28,28]'"

# A network and a configuration, each changed.
CUSTOM = '''
import tensorrt as trt
from polygraphy import func
from polygraphy.backend.trt import CreateConfig, NetworkFromOnnxPath, Profile

@func.extend(NetworkFromOnnxPath("mnist.onnx"))
def custom_network(builder, network, parser):
    network.name = "my_network"
    output = network.get_output(0)
    network.unmark_output(output)
    layer = network.add_softmax(output)
    layer.axes = 1 << 1
    network.mark_output(layer.get_output(0))

@func.extend(CreateConfig(profiles=[Profile().add("tensor-0", (1, 1, 28, 28), (4, 1, 28, 28), (16, 1, 28, 28))]))
def custom_config(builder, network, config):
    config.set_flag(trt.BuilderFlag.FP16)
'''

# An image, read and made ready. NumPy alone, so that any interpreter of scripts does.
DATA = '''
import numpy as np

def load_data():
    with open("dog.ppm", "rb") as file:
        assert file.readline() == b"P6\\n"
        width, height = map(int, file.readline().split())
        file.readline()
        image = np.frombuffer(file.read(), np.uint8).reshape(height, width, 3)
    top, left = (height - 224) // 2, (width - 224) // 2
    x = image[top:top + 224, left:left + 224].astype(np.float32) / 255
    x = (x - np.array([0.485, 0.456, 0.406], np.float32)) / np.array([0.229, 0.224, 0.225], np.float32)
    yield {"input": np.ascontiguousarray(x.transpose(2, 0, 1)[None])}
'''

# Writes inputs and "another framework's" results with the real helper functions.
TORCH = '''
import numpy as np
from polygraphy.comparator import RunResults
from polygraphy.json import load_json, save_json

inputs = load_json("drawn.json")
save_json([{name: np.array(x) for name, x in feed.items()} for feed in inputs], "custom_inputs.json")
results = RunResults.load("own.json")
outputs = RunResults()
outputs.add([{name: np.array(x) for name, x in i.items()} for i in results[0][1]], runner_name="torch")
outputs.save("torch_outputs.json")
'''


class Scenarios:
    """Needs `folder`, `env`, `run_words` and SOURCE of the class that it is mixed into."""

    def polygraphy(self, line, code=0):
        return self.run_words(self.prefix / "bin/polygraphy", *shlex.split(line), folder=self.mnist_folder(), code=code)

    def mnist_folder(self):
        folder = self.folder / "scenarios"
        if not folder.exists():
            folder.mkdir()
            link = self.prefix / "bin/polygraphy"
            if not link.exists():
                link.symlink_to("assay")
            self.run_words("assay", "template", "model", "mnist-cnn", "--batch", "dynamic", "-o", "mnist.onnx", folder=folder)
            (folder / "resnet_custom.py").write_text(CUSTOM)
        return folder

    def packages(self, names):
        """The project's own interpreter, where it has these packages; else a line that says what is left out."""
        python = self.SOURCE / ".venv/bin/python"
        if python.exists():
            try:
                self.run_words(python, "-c", f"import {names}")
                return python
            except AssertionError:
                pass
        print(f"skipped in part: {self.id()}: {python} has not all of {names}")
        return None

    def has_onnxruntime(self):
        try:
            self.polygraphy(f"run mnist.onnx --onnxrt {FED}")
            return True
        except AssertionError:
            print(f"skipped in part: {self.id()}: there is no ONNX Runtime")
            return False

    def test_a4_tensorflow_beside_others(self):
        if not os.environ.get("ASSAY_TENSORFLOW"):
            print(f"skipped in part: {self.id()}: ASSAY_TENSORFLOW names no environment with TensorFlow")
            return
        folder = self.mnist_folder()
        python = Path(os.environ["ASSAY_TENSORFLOW"]) / "bin/python"
        (folder / "make_models.py").write_text('''
import numpy as np, tensorflow as tf
v1 = tf.compat.v1
w = (np.arange(12, dtype=np.float32).reshape(4, 3) % 5) - 2
graph = tf.Graph()
with graph.as_default():
    x = v1.placeholder(tf.float32, [None, 4], name="x")
    tf.nn.softmax(tf.matmul(x, tf.constant(w)), name="y")
open("frozen.pb", "wb").write(graph.as_graph_def().SerializeToString())
''')
        self.run_words(python, "make_models.py", folder=folder)
        (folder / "same.onnxtxt").write_text('<ir_version: 8, opset_import: ["" : 17]>\ng (float[n,4] x) => (float[n,3] y)\n'
                                             "<float[4,3] w = {-2,-1,0, 1,2,-2, -1,0,1, 2,-2,-1}> {\n  p = MatMul (x, w)\n  y = Softmax <axis = -1> (p)\n}\n")
        self.polygraphy("run frozen.pb --tf --model-type frozen --tf-outputs y:0 --input-shapes 'x:0:[2,4]' --save-inputs tf_in.json --save-outputs tf_out.json")
        for name in ("tf_in.json", "tf_out.json"):  # TensorFlow's names of tensors
            path = folder / name
            path.write_text(path.read_text().replace('"x:0"', '"x"').replace('"y:0"', '"y"'))
        others = "--trt --onnxrt" if self.has_onnxruntime() else "--trt"
        out = self.polygraphy(f"run same.onnxtxt {others} --input-shapes x:[2,4] --load-inputs tf_in.json --load-outputs tf_out.json --rtol 1e-6 --atol 1e-6 --validate")
        self.assertEqual(out.count("Pass Rate: 100.00%"), others.count("--"))

    def test_a6_data_of_a_script(self):
        if self.packages("numpy") is None:
            return
        folder = self.mnist_folder()
        self.run_words("assay", "template", "model", "resnet-18", "-o", "ResNet-18.onnx", folder=folder)
        (folder / "generate_data.py").write_text(DATA)
        width, height = 260, 240
        (folder / "dog.ppm").write_bytes(b"P6\n%d %d\n255\n" % (width, height) + bytes((i * 7 + i // width) % 256 for i in range(3 * width * height)))
        other = "--onnxrt" if self.has_onnxruntime() else "--ref"
        out = self.polygraphy(f"run ResNet-18.onnx --trt {other} --input-shapes input:[1,3,224,224] --data-loader-script generate_data.py --atol 1e-3 --rtol 1e-3 "
                              "--save-inputs seen.json")
        self.assertIn("Pass Rate: 100.00%", out)
        # It is the image that was seen, not random numbers in [0, 1].
        self.assertIn("min=-2.1", self.polygraphy("inspect data seen.json"))
        # Other commands take it, too.
        out = self.polygraphy("surgeon sanitize ResNet-18.onnx --force-fallback-shape-inference --data-loader-script generate_data.py -o typed.onnx")
        self.assertIn("input metadata:\n    {input [dtype=float32, shape=(1, 3, 224, 224)]}", out)
        if other == "--onnxrt":
            self.polygraphy("check lint ResNet-18.onnx --data-loader-script generate_data.py")
            self.assertIn("no_such", self.polygraphy("check lint ResNet-18.onnx --data-loader-script generate_data.py:no_such", code=1))

    def test_a7_results_of_a_script(self):
        python = self.packages("numpy, polygraphy")
        if python is None:
            return
        folder = self.mnist_folder()
        self.polygraphy(f"run mnist.onnx --trt {SHAPES} {FED} --save-inputs drawn.json --save-outputs own.json")
        (folder / "torch_script.py").write_text(TORCH)
        self.run_words(python, "torch_script.py", folder=folder)
        out = self.polygraphy(f"run mnist.onnx --trt {SHAPES} --load-inputs custom_inputs.json --load-outputs torch_outputs.json")
        self.assertRegex(out, r"vs\. torch.*Pass Rate: 100\.00%")

    def test_b5_conversions_of_scripts(self):
        if self.packages("numpy") is None:
            return
        folder = self.mnist_folder()
        self.polygraphy(f"convert resnet_custom.py:custom_network -o resnet_fp32.engine {SHAPES}")
        self.polygraphy("convert resnet_custom.py:custom_network --trt-config-script=resnet_custom.py:custom_config -o resnet_fp16.engine")
        single = self.polygraphy("inspect model resnet_fp32.engine --show layers")
        half = self.polygraphy("inspect model resnet_fp16.engine --show layers")
        self.assertIn("Name: my_network | Explicit Batch Engine", single)
        self.assertIn("Allowed: float32\n", single)  # which of them a layer gets is a matter of time
        self.assertIn("Allowed: float32, float16\n", half)
        out = self.polygraphy(f"run resnet_fp16.engine --trt --save-inputs i.json --save-outputs o.json {FED}")
        self.assertIn("PASSED", out)
        self.assertIn("Pass Rate: 100.00%", self.polygraphy("run resnet_fp32.engine --trt --load-inputs i.json --load-outputs o.json --atol 1e-3 --rtol 1e-3"))
        # Calibrated by a script, and then by the cache alone.
        (folder / "calibration.py").write_text("import numpy as np\n\ndef load_data():\n    rng = np.random.default_rng(1)\n    for _ in range(4):\n"
                                               '        yield {"tensor-0": rng.random((4, 1, 28, 28), dtype=np.float32)}\n')
        self.polygraphy(f"convert mnist.onnx -o int8.plan --int8 --data-loader-script calibration.py --calibration-cache c.cache {SHAPES}")
        self.assertTrue((folder / "c.cache").read_text().startswith("TRT-"))
        (folder / "calibration.py").unlink()
        self.polygraphy(f"convert mnist.onnx -o again.plan --int8 --calibration-cache c.cache {SHAPES}")
        self.assertIn("PASSED", self.polygraphy(f"run again.plan --trt {FED}"))
        self.polygraphy("convert mnist.onnx --convert-to onnx-like-trt-network -o like.onnx")
        self.assertIn("onnx", self.polygraphy("inspect model like.onnx").lower())

    def test_b6_templates(self):
        folder = self.mnist_folder()
        self.polygraphy("template trt-network -o create_network.py")
        self.polygraphy("template trt-network mnist.onnx -o parse_network.py")
        self.polygraphy("template trt-config --fp16 -o cfg.py")
        self.polygraphy("template onnx-gs mnist.onnx -o edit.py")
        for name in ("create_network.py", "parse_network.py", "cfg.py", "edit.py"):
            compile((folder / name).read_text(), name, "exec")
        if self.packages("numpy") is None:
            return
        # The scripts run as they are; what makes an empty network is filled first.
        script = folder / "create_network.py"
        text = script.read_text()
        self.assertIn("    pass\n", text)
        script.write_text(text.replace("    pass\n", "    x = network.add_input('x', trt.float32, (2, 3))\n    network.mark_output(network.add_identity(x).get_output(0))\n"))
        self.assertIn("PASSED", self.polygraphy("run create_network.py --trt --model-type=trt-network-script"))
        self.polygraphy(f"convert parse_network.py --trt-config-script cfg.py -o templates.engine {SHAPES}")
        self.assertIn("Allowed: float32, float16\n", self.polygraphy("inspect model templates.engine"))

    def test_b7_network_scripts(self):
        if self.packages("numpy") is None:
            return
        folder = self.mnist_folder()
        text = (folder / "resnet_custom.py").read_text()
        (folder / "resnet_def.py").write_text(text.replace("custom_network", "load_network"))
        (folder / "resnet_cfg.py").write_text(text.replace("custom_config", "load_config"))
        for line, saved in [("run --trt resnet_def.py --model-type=trt-network-script", False),
                            ("run --trt resnet_def.py --model-type=trt-network-script --trt-config-script=resnet_cfg.py", True),
                            ("run --trt resnet_custom.py:custom_network --model-type=trt-network-script --trt-config-script=resnet_custom.py:custom_config", True)]:
            shapes = "" if saved else SHAPES  # the script of the configuration has its own
            self.assertIn("PASSED", self.polygraphy(f"{line} {shapes} {FED} --save-engine b7.engine"))
            self.assertEqual("Allowed: float32, float16\n" in self.polygraphy("inspect model b7.engine"), saved, line)
        self.assertIn("no_such", self.polygraphy(f"run --trt resnet_custom.py:no_such --model-type=trt-network-script {FED}", code=1))

    def test_e6_a_plugin(self):
        """A creator and a plugin with dynamic shapes, formats, workspace and serialisation: used through the parser, and by a plan."""
        folder = self.mnist_folder()
        module = folder / "everything.so"
        self.run_words("c++", "-std=c++20", "-shared", "-fPIC", "-O0", f"-I{self.prefix}/include", self.SOURCE / "tests/extension/everything.cpp", "-o", module)
        (folder / "scale.onnxtxt").write_text('<ir_version: 8, opset_import: ["" : 17, "test.everything" : 1]>\n'
                                              "g (float[n,3] x) => (float[n,3] y) {\n  y = test.everything.Scale <factor: float = 3.0> (x)\n}\n")
        shapes = "--trt-min-shapes x:[1,3] --trt-opt-shapes x:[2,3] --trt-max-shapes x:[8,3]"
        self.polygraphy(f"convert scale.onnxtxt -o scale.plan {shapes} --extension {module}")
        self.assertIn("[Op: everything_scale]", self.polygraphy(f"inspect model scale.plan --show layers --extension {module}"))
        for rows in (1, 8):  # made again from the plan
            out = self.polygraphy(f"run scale.plan --trt --input-shapes x:[{rows},3] --save-inputs i{rows}.json --save-outputs o{rows}.json --extension {module}")
            self.assertIn("PASSED", out)
            self.assertIn("Pass Rate: 100.00%", self.polygraphy(f"run scale.onnxtxt --ref --load-inputs i{rows}.json --load-outputs o{rows}.json --extension {module}"))
        self.assertIn("test.everything", self.polygraphy("run scale.plan --trt --input-shapes x:[1,3]", code=1))
