"""The runner `tensorrt`, against packages that stand in for those of machines with a GPU (stand_in/README.md): which calls it
makes, and that values get where they belong. It says nothing of TensorRT itself. Usage: tensorrt_test.py RUNNER_TOOL"""

import json
import os
import pathlib
import sys

import numpy as np

from runner_test import RunnerTest, main

os.environ["PYTHONPATH"] = str(pathlib.Path(__file__).parent / "stand_in")
os.environ["ASSAY_TENSORRT"] = sys.executable
X = np.float32([[1, -2, 3], [4, 5, -6]])
ENGINE = {"x": {"type": "FLOAT", "shape": [-1, 3]}, "y": {"type": "FLOAT", "shape": [-1, 3], "of": "x"},
          "found": {"type": "FLOAT", "shape": [-1], "positive_of": "x"}, "n": {"type": "INT64", "shape": [2]},
          "m": {"type": "INT64", "shape": [2], "of": "n"}}


class TensorRT(RunnerTest):
    def setUp(self):
        super().setUp()
        os.environ["STAND_IN_CALLS"] = self.path("calls")

    def calls(self, *names):
        with open(self.path("calls")) as file:
            calls = [json.loads(line) for line in file]
        return [c for c in calls if c[0] in names] if names else [c[0] for c in calls]

    def write(self, name, content):
        with open(self.path(name), "w") as file:
            file.write(content if isinstance(content, str) else json.dumps(content))
        return self.path(name)

    def test_engine(self):
        lines, outputs = self.run_tool("tensorrt", self.write("model.engine", ENGINE), {"x": X, "n": np.int64([7, 8])})
        self.assertEqual(lines, ["input x float32[?, 3]", "input n int64[2]", "output y float32[?, 3]", "output found float32[?]",
                                 "output m int64[2]"])
        np.testing.assert_array_equal(outputs["y"], 2 * X)
        np.testing.assert_array_equal(outputs["m"], [14, 16])
        np.testing.assert_array_equal(outputs["found"], [1, 3, 4, 5])
        self.assertEqual(self.calls("set_input_shape"), [["set_input_shape", "x", [2, 3]], ["set_input_shape", "n", [2]]])
        self.assertEqual(self.calls("set_output_allocator"), [["set_output_allocator", "found"]])
        order = self.calls()
        self.assertLess(order.index("execute_async_v3"), order.index("cudaStreamSynchronize"))
        begin, end = (i for i, c in enumerate(order) if c == "cudaEventRecord")
        self.assertTrue(begin < order.index("execute_async_v3") < end)
        # What was made is destroyed.
        self.assertEqual(order.count("cudaEventDestroy"), 2)
        self.assertEqual(order.count("cudaStreamDestroy"), 1)
        self.assertEqual(order.count("cudaMalloc"), order.count("cudaFree"))

    def test_model(self):
        outcome = self.run_tool("tensorrt", self.write("model.onnx", "good"), {"x": X}, fp16=1, workspace=1 << 20,
                                min_shapes='{"x": [1, 3]}', max_shapes='{"x": [8, 3]}', save_engine=self.path("saved.engine"))
        np.testing.assert_array_equal(outcome[1]["y"], 2 * X)
        self.assertEqual(self.calls("set_flag", "clear_flag"), [["set_flag", "FP16"], ["clear_flag", "TF32"]])
        self.assertEqual(self.calls("set_shape"), [["set_shape", "x", [1, 3], [8, 3], [8, 3]]])
        self.assertEqual(self.calls("set_memory_pool_limit"), [["set_memory_pool_limit", "WORKSPACE", 1 << 20]])
        _, again = self.run_tool("tensorrt", self.path("saved.engine"), {"x": X})
        np.testing.assert_array_equal(again["y"], 2 * X)

    def test_errors(self):
        self.assert_mentions(self.failure("tensorrt", self.write("bad.onnx", "bad")), "TensorRT 10.99.stand-in cannot read",
                             "bad.onnx", "no node in it", "runners/tensorrt.py")
        self.assert_mentions(self.failure("tensorrt", self.write("bad.plan", "bad")), "cannot read the engine", "bad.plan")
        self.assert_mentions(self.failure("tensorrt", self.path("bad.onnx"), speed=3), "takes no option 'speed'", "'fp16'")
        self.assert_mentions(self.failure("tensorrt", self.write("good.onnx", "good"), opt_shapes='{"z": [1]}'),
                             "no input 'z'", "fixed, x")
        self.assert_mentions(self.failure("tensorrt", self.write("int4.plan", {"w": {"type": "INT4", "shape": [2]}})), "'w' as INT4")
        for shape, words in (((2, 4), "does not take the shape (2, 4) for 'x'"), ((1 << 17, 3), "CUDA: out of memory")):
            with self.assertRaises(AssertionError) as caught:
                self.run_tool("tensorrt", self.path("good.onnx"), {"x": np.zeros(shape, np.float32)})
            self.assert_mentions(str(caught.exception), words, "runners/tensorrt.py", "function 'infer'" if shape == (2, 4) else "CUDA")


if __name__ == "__main__":
    main()
