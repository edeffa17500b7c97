"""The runner `pytorch` with the real package. Usage: pytorch_test.py RUNNER_TOOL"""

import json
import warnings

import numpy as np
import torch

from runner_test import RunnerTest, child_values, load, main

warnings.filterwarnings("ignore")


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 3)
        self.linear = torch.nn.Linear(4, 5)

    def forward(self, x, scale):
        y = self.conv(x).relu().mean((2, 3))
        return self.linear(y) * scale, y


class PyTorch(RunnerTest):
    def setUp(self):
        super().setUp()
        torch.manual_seed(1)
        self.net = Net().eval()
        self.example = (torch.rand(2, 3, 8, 8), torch.tensor([1.5]))
        with torch.no_grad():
            self.expected = [t.numpy() for t in self.net(*self.example)]
        self.feed = {"x": self.example[0].numpy(), "scale": self.example[1].numpy()}

    def check(self, outputs):
        for (name, made), expected in zip(outputs.items(), self.expected):
            np.testing.assert_allclose(made, expected, rtol=1e-5, atol=1e-6, err_msg=name)

    def exported(self, **options):
        program = torch.export.export(self.net, self.example, **options)
        torch.export.save(program, self.path("net.pt2"))
        return self.path("net.pt2")

    def scripted(self):
        torch.jit.save(torch.jit.script(self.net), self.path("net.pt"))
        return self.path("net.pt")

    def test_exported_program(self):
        path = self.exported(dynamic_shapes={"x": {0: torch.export.Dim("batch")}, "scale": None})
        lines, outputs = self.run_tool("pytorch", path, self.feed)
        self.assertEqual(lines[1], "input scale float32[1]")
        self.assertRegex(lines[0], r"^input x float32\[s\d+, 3, 8, 8\]$")
        self.assertEqual(len(outputs), 2)
        self.check(outputs)
        # The batch is free.
        _, outputs = self.run_tool("pytorch", path, {**self.feed, "x": np.repeat(self.feed["x"], 2, axis=0)}, outputs="a,b")
        self.assertEqual(list(outputs), ["a", "b"])
        np.testing.assert_allclose(outputs["a"], np.repeat(self.expected[0], 2, axis=0), rtol=1e-5, atol=1e-6)

    def test_torch_script(self):
        declared = {"x": ["float32", [None, 3, 8, 8]], "scale": ["float32", [1]]}
        lines, outputs = self.run_tool("pytorch", self.scripted(), self.feed, inputs=json.dumps(declared), threads=1)
        self.assertEqual(lines[0], "input x float32[?, 3, 8, 8]")
        self.assertEqual(list(outputs), ["output_0", "output_1"])
        self.check(outputs)

    def test_nested_arguments(self):
        class Nested(torch.nn.Module):
            def forward(self, pair, more):
                return {"sum": pair[0] + pair[1], "more": [more["a"] * 2]}

        x = torch.arange(3.0)
        torch.export.save(torch.export.export(Nested(), ((x, x + 1), {"a": x})), self.path("nested.pt2"))
        runner = load("pytorch").PyTorchRunner(self.path("nested.pt2"))
        self.assertEqual(len(runner.inputs()), 3)
        made = list(runner.infer(dict(zip(runner.inputs(), [x.numpy(), x.numpy() + 1, x.numpy()]))).values())
        np.testing.assert_array_equal(made[0], 2 * x + 1)
        np.testing.assert_array_equal(made[1], 2 * x)

    def test_bfloat16(self):
        class Half(torch.nn.Module):
            def forward(self, x):
                return x * 2

        torch.export.save(torch.export.export(Half(), (torch.ones(3, dtype=torch.bfloat16),)), self.path("half.pt2"))
        runner = load("pytorch").PyTorchRunner(self.path("half.pt2"))
        self.assertEqual(runner.inputs()["x"], ("bfloat16", [3]))
        try:
            import ml_dtypes
        except ImportError:
            print("skipped in part: bfloat16 arrays, since the environment has no ml_dtypes")
            return
        made = runner.infer({"x": np.ones(3, ml_dtypes.bfloat16)})
        self.assertEqual(list(made.values())[0].float().tolist(), [2, 2, 2])

    def test_tensors_of_scripts(self):
        """What a data loader may give in place of arrays."""
        values = child_values()
        for tensor, number in ((torch.ones(2, requires_grad=True), 1), (torch.tensor([True]), 9), (torch.ones(2, 3).T, 1),
                               (torch.tensor([1 + 2j]).conj(), 14), (torch.tensor(5), 7)):
            kind, (made, data, nbytes, shape) = values.encode(tensor, "x")
            self.assertEqual((kind, made, shape), ("t", number, list(tensor.shape)))
            self.assertEqual(bytes(data), tensor.detach().resolve_conj().numpy().tobytes())
        kind, (made, data, nbytes, shape) = values.encode(torch.tensor([1.0, 2.0], dtype=torch.bfloat16), "x")
        self.assertEqual((made, bytes(data), shape), (16, b"\x80\x3f\x00\x40", [2]))

    def test_errors(self):
        runner = load("pytorch").PyTorchRunner
        script = self.scripted()

        def raises(*args, **options):
            with self.assertRaises(Exception) as caught:
                runner(*args, **options)
            return str(caught.exception)

        self.assert_mentions(raises(script), "does not keep the types of its inputs (x, scale)", "option inputs")
        self.assert_mentions(raises(script, inputs='{"y": ["float32", [1]]}'), "no input 'y'", "x, scale")
        self.assert_mentions(raises(script, inputs='{"x": ["float32", [1]]}'), "says nothing of the input 'scale'")
        torch.save(self.net.state_dict(), self.path("state.pt"))
        self.assert_mentions(raises(self.path("state.pt")), "pickled objects", "torch.export.save()")
        with open(self.path("text.pt"), "w") as file:
            file.write("no model")
        self.assert_mentions(raises(self.path("text.pt")), "neither TorchScript nor an exported program")
        # And how it looks from outside.
        self.assert_mentions(self.failure("pytorch", self.path("text.pt")), "neither TorchScript nor an exported program",
                             "runners/pytorch.py")
        wrong = runner(self.exported(), outputs="one")
        with self.assertRaisesRegex(ValueError, "gave 2 outputs, and 1 are named"):
            wrong.infer(self.feed)


if __name__ == "__main__":
    main()
