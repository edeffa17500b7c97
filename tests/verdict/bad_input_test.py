"""The verdict on what one does not expect: NaN with a payload, nothing but zeros, pictures of one colour, one of thousands of samples, networks
without a determined digit, backends that crash or change, results from elsewhere.

usage: bad_input_test.py ASSAY
"""
import json
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper

from reported_test import F, LAYERS, Reported, single

import backends
import data
import loops
import models
import networks
import verdicts


class BadInput(Reported):
    KNOWN = {}

    def nan_payloads(self):
        """All NaN are one: sign and payload are nobody's error, and NaN where a number belongs is one whatever it carries."""
        model = single("Sqrt", {"x": [4]}, [4])
        feed = {"x": F([-1, 4, -9, 16])}
        for bits in (0x7FC00000, 0xFFC00000, 0x7F800001, 0x7FC12345, 0xFFFFFFFF):
            y = F([0, 2, 0, 4])
            y.view(np.uint32)[[0, 2]] = bits
            self.passes(hex(bits), model, feed, {"y": y})
            y.view(np.uint32)[1] = bits
            verdict = self.judge.judge(model, feed, {"y": y})
            assert verdict.code == 1 and verdict.of("WRONG"), (hex(bits), verdict.code, verdict.text[-1000:])
        fed = F([0, 4, 0, 16])
        fed.view(np.uint32)[[0, 2]] = 0x7FC12345
        for marks in ((), LAYERS):
            code, text, _ = self.live(model, {"x": fed}, "--engine", "--onnxrt", *marks)
            assert code == 0, (code, text[-1500:])

    def zeros(self):
        """A network of zeros has results, and zeros in the place of results are found."""
        for make in (networks.efficient, networks.text_encoder, networks.norm_maps, networks.gqa, networks.speech):
            model = make().model()
            feed = {n: np.zeros_like(v) if v.dtype.kind == "f" else v for n, v in data.feed(model, "photo", 1).items()}
            suspect = backends.Onnxruntime("all")
            self.passes(make.__name__, model, feed, suspect.run(model, feed))
            shown = suspect.run(backends.mark_all(model), feed)
            self.passes(make.__name__, model, feed, shown, *LAYERS)
            name = model.graph.output[0].name
            if shown[name].any():
                verdict = self.judge.judge(model, feed, {o.name: np.zeros_like(shown[o.name]) for o in model.graph.output})
                assert verdict.code in (1, 3), (make.__name__, verdict.code, verdict.text[-1000:])
        photo = data.feed(model, "photo", 1)
        verdict = self.judge.judge(model, photo, {o.name: np.zeros_like(shown[o.name]) for o in model.graph.output})
        assert verdict.code == 1, (verdict.code, verdict.text[-1000:])

    def one_colour(self):
        """Pictures of one colour, each channel its own, as bytes and scaled."""
        for make in (networks.efficient, networks.norm_maps, networks.maps, networks.vision_transformer, networks.generator):
            model = make().model()
            (x,) = [i for i in model.graph.input]
            shape = [d.dim_value for d in x.type.tensor_type.shape.dim]
            for colour in (255.0, 114 / 255, 1 / 3, -2.1179):
                value = np.broadcast_to(F(colour) * np.linspace(1, 0.5, shape[1], dtype=F).reshape(1, -1, 1, 1), shape).copy()
                for suspect in (backends.Onnxruntime("all"), verdicts.Assay(self.assay, self.folder, "engine")):
                    self.passes((make.__name__, colour, suspect.name), model, {"x": value}, suspect.run(backends.mark_all(model), {"x": value}), *LAYERS)

    def one_of_thousands(self):
        """One sample of a batch of 4096 is wrong, by a thousandth, or is its neighbour's: the verdict names the place."""
        n = models.Net(17, 3)
        x = n.input("x", [4096, 24])
        n.output(n.op("Softmax", n.op("Gemm", n.op("Relu", n.op("Gemm", x, n.weight([24, 32]), n.weight([32]))), n.weight([32, 10]), n.weight([10])), axis=-1))
        model = n.model()
        feed = {"x": np.random.default_rng(2).standard_normal((4096, 24)).astype(F)}
        suspect = backends.Onnxruntime("all")
        right = suspect.run(model, feed)
        name = model.graph.output[0].name
        self.passes("right", model, feed, right)
        for sample, change in ((2777, lambda y: y[2777] * F(1.001)), (4095, lambda y: y[4094]), (0, lambda y: y[1])):
            y = right[name].copy()
            y[sample] = change(y)
            verdict = self.judge.judge(model, feed, {name: y})
            assert verdict.code == 1, (sample, verdict.code, verdict.text[-1000:])
            assert verdict.outputs[0]["worst"]["at"] // 10 == sample, verdict.outputs[0]["worst"]

    def no_digit(self):
        """With layers, each node of a network without a determined digit is judged; without, nobody passes for its outputs alone."""
        model, feed = self.inverse()
        right = backends.Onnxruntime("none").run(backends.mark_all(model), feed)
        self.passes("layers", model, feed, right, *LAYERS)
        name = model.graph.output[0].name
        wrong = dict(right)
        wrong[name] = right[name] * F(1.01)
        verdict = self.judge.judge(model, feed, wrong, *LAYERS)
        assert verdict.code == 1 and [o["output"] for o in verdict.of("WRONG")] == [name], (verdict.code, verdict.text[-1000:])
        code, text, _ = self.live(model, feed, "--onnxrt", "--no-trace")
        assert code == 3 and "cannot tell" in text, (code, text[-1000:])

    def crashes_every_second_call(self):
        """What a runner gave before it died is judged, and the run ends with one error that names the runner."""
        model = networks.table().model()
        feed = data.feed(model, "with_gaps", 1)
        for body, word in (("        if Moody.calls % 2 == 0: raise RuntimeError('out of luck')\n", "out of luck"),
                           ("        import os\n        if Moody.calls % 2 == 0: os.abort()\n", "")):
            code, text, verdict = self.live(model, feed, "--runner-script", self.moody_runner(body), iterations=3)
            assert code == 1 and word in text and "moody-runner" in text, (code, text[-2500:])
        # With a wrong result, the run that would show its layers dies.
        wrong = "        if Moody.calls % 2 == 0: raise RuntimeError('out of luck')\n        results[names[0]] = results[names[0]] * 1.5\n"
        code, text, verdict = self.live(model, feed, "--runner-script", self.moody_runner(wrong))
        assert code == 1 and "WRONG" in text, (code, text[-2500:])

    def threads_change(self):
        """A runner with another number of threads at each run adds up in another order: no fault, and nobody is called unsteady."""
        model = networks.norm_maps().model()
        feed = data.feed(model, "photo", 1)
        script = self.folder / "threads.py"
        script.write_text('''
import onnxruntime
class Threads:
    def __init__(self, model_path):
        self.sessions = []
        for threads in (1, 2, 3, 4):
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = threads
            self.sessions.append(onnxruntime.InferenceSession(model_path, options))
        self.calls = 0
    def infer(self, feed_dict):
        session = self.sessions[self.calls % 4]
        self.calls += 1
        names = [o.name for o in session.get_outputs()]
        return dict(zip(names, session.run(names, feed_dict)))
''')
        for marks in ((), LAYERS):
            code, text, verdict = self.live(model, feed, "--runner-script", script, *marks)
            assert code == 0 and "Not reproducible" not in text, (code, text[-2000:])
        for threads in (1, 2, 4):
            code, text, verdict = self.live(model, feed, "--engine", "--onnxrt", "--threads", str(threads))
            assert code == 0 and verdict["iterations"][0]["threads"] == threads, (code, verdict["iterations"][0]["threads"], text[-1000:])

    def another_processor(self):
        """Results that another processor computed: other orders of additions, numbers below the normal ones taken as zero. They are judged as
        any others, and the verdict does not name this processor as theirs."""
        model = networks.efficient().model()
        feed = data.feed(model, "letterbox", 1)
        for order in loops.ORDERS:
            self.passes(order, model, feed, loops.Loops(order).run(backends.mark_all(model), feed), *LAYERS)
        saved = json.loads((self.folder / "verdict.json").read_text())["iterations"][0]
        assert saved["processor"] == "", saved["processor"]
        code, text, live = self.live(model, feed, "--engine")
        assert code == 0 and live["iterations"][0]["processor"], (code, text[-1000:])
        tiny = single("Mul", {"a": [8]}, [8], [("b", np.full(8, 2.0 ** -40, F))])
        self.passes("flushed", tiny, {"a": F([1, 3, 5, 7, 9, 11, 13, 15]) * F(2.0 ** -100)}, {"y": np.zeros(8, F)})
        verdict = self.judge.judge(tiny, {"a": np.full(8, 2.0 ** -80, F)}, {"y": np.zeros(8, F)})
        assert verdict.code == 1, (verdict.code, verdict.text[-1000:])

    def type_that_nobody_has(self):
        """Results whose type or number of elements is not the model's, beside those that are right."""
        model = networks.table().model()
        feed = data.feed(model, "counts", 1)
        right = backends.Onnxruntime("all").run(model, feed)
        names = [o.name for o in model.graph.output]
        for change in (lambda y: y.astype(np.float64), lambda y: y[:0], lambda y: y.reshape(-1), lambda y: y.astype(np.float16)):
            results = dict(right)
            results[names[0]] = change(right[names[0]])
            verdict = self.judge.judge(model, feed, results)
            assert verdict.code == 1 and [o["output"] for o in verdict.of("WRONG")] == names[:1], (verdict.code, verdict.text[-1500:])

    def empty_tensors(self):
        """A batch of nothing has nothing wrong in it."""
        graph = helper.make_graph([helper.make_node("ReduceMean", ["x", "a"], ["m"], "mean"), helper.make_node("Sub", ["x", "m"], ["y"], "sub")], "g",
                                  [helper.make_tensor_value_info("x", T.FLOAT, ["n", 5])], [helper.make_tensor_value_info("y", T.FLOAT, ["n", 5])],
                                  [onnx.numpy_helper.from_array(np.array([1]), "a")])
        model = helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 18)])
        empty = np.zeros((0, 5), F)
        self.passes("empty", model, {"x": empty}, {"y": empty})
        verdict = self.judge.judge(model, {"x": empty}, {"y": np.zeros((1, 5), F)})
        assert verdict.code == 1, (verdict.code, verdict.text[-1000:])


NAMES = ("nan_payloads", "zeros", "one_colour", "one_of_thousands", "no_digit", "crashes_every_second_call", "threads_change", "another_processor",
         "type_that_nobody_has", "empty_tensors")


def main():
    with tempfile.TemporaryDirectory() as folder:
        return BadInput(sys.argv[1], folder).run_all(NAMES)


if __name__ == "__main__":
    sys.exit(main())
