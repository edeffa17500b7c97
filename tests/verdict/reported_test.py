"""Cases in which the verdict was once wrong, as users reported them, each made anew: alike numbers, low precision, results of which
nothing can be said, backends that are not the same twice.

usage: reported_test.py ASSAY [--files FOLDER] [--only NAME]

FOLDER holds the reporters' own files; without it that part is skipped.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper, numpy_helper

sys.path.insert(0, str(Path(__file__).parent / "harness"))
import backends  # noqa: E402
import data  # noqa: E402
import faults  # noqa: E402
import loops  # noqa: E402
import mistakes  # noqa: E402
import models  # noqa: E402
import networks  # noqa: E402
import verdicts  # noqa: E402
from expected import Cases  # noqa: E402

F = np.float32
LAYERS = ("--onnx-outputs", "*")


def single(op, inputs, shape, weights=(), opset=18, **attributes):
    """A model of one node whose first inputs are fed."""
    value = lambda name, s: helper.make_tensor_value_info(name, T.FLOAT, s)  # noqa: E731
    node = helper.make_node(op, [*inputs, *[name for name, _ in weights]], ["y"], "op", **attributes)
    graph = helper.make_graph([node], "g", [value(i, s) for i, s in inputs.items()], [value("y", shape)],
                              [numpy_helper.from_array(w, name) for name, w in weights])
    return helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", opset)])


def products_saturate():
    """Whether ONNX Runtime cuts off sums of two products of 8 bits on this processor."""
    a, b = np.full((1, 8), 255, np.uint8), np.full((8, 16), 127, np.int8)
    node = helper.make_node("MatMulInteger", ["a", "b"], ["y"])
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("a", T.UINT8, [1, 8])], [helper.make_tensor_value_info("y", T.INT32, [1, 16])],
                              [numpy_helper.from_array(b, "b")])
    model = helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 18)])
    return bool((backends.Onnxruntime("none").run(model, {"a": a})["y"] != 255 * 127 * 8).any())


def alike(seed):
    """Rows of 3136 numbers as a layer sees them: activations of a picture between bars, a logo on white, flat, spikes on a ground."""
    rng = np.random.default_rng(seed)
    silu = lambda x: x / (1 + np.exp(-x))  # noqa: E731
    shape = (4, 56, 56)
    return {"letterbox": data.KINDS["letterbox"](rng, shape), "silu_of_letterbox": silu(3 * data.KINDS["letterbox"](rng, shape)),
            "logo": data.KINDS["logo_normalised"](rng, shape), "flat_255": data.KINDS["flat_255"](rng, shape),
            "spikes": data.KINDS["silu_map"](rng, shape), "photo_255": data.KINDS["photo_255"](rng, shape)}


class Reported(Cases):
    def __init__(self, assay, folder):
        self.assay, self.folder = Path(assay).resolve(), Path(folder)
        self.judge = verdicts.Judge(self.assay, folder)

    def passes(self, what, model, feed, results, *options):
        verdict = self.judge.judge(model, feed, results, *options)
        bad = [(o["output"], o["verdict"], o["ratio"]) for o in verdict.outputs if o["verdict"] not in ("agrees", "rounding only", "left open by ONNX")]
        assert verdict.outputs and not bad, (what, bad, verdict.text[-1500:])
        return verdict

    def live(self, model, feed, *options, iterations=1, timeout=240):
        """`run` with runners: exit status, what it says, and its verdict."""
        paths = {n: self.folder / n for n in ("live.onnx", "live_feed.json", "live_verdict.json")}
        onnx.save(model, paths["live.onnx"])
        verdicts.save_feed(paths["live_feed.json"], *[feed] * iterations)
        return self.command(paths["live.onnx"], "--load-inputs", paths["live_feed.json"], *options, timeout=timeout)

    def command(self, *arguments, timeout=240):
        saved = self.folder / "live_verdict.json"
        saved.unlink(missing_ok=True)
        environment = {**os.environ, "ASSAY_PYTHON": sys.executable}
        done = subprocess.run([self.assay, "run", *arguments, "--arbiter", "--save-verdict", saved], capture_output=True, text=True,
                              timeout=timeout, env=environment)
        return done.returncode, done.stdout + done.stderr, json.loads(saved.read_text()) if saved.exists() else None

    def loops_of(self, op, shape, weights=(), **attributes):
        for kind, x in alike(1).items():
            x = np.ascontiguousarray(x.reshape(shape), F)
            model = single(op, {"x": list(shape)}, None, weights, **attributes)
            for order in loops.ORDERS:
                self.passes((op, kind, order), model, {"x": x}, loops.Loops(order).run(model, {"x": x}))

    def pool_of_spikes(self):
        """Hundreds of channels of 14x14: one value nearly everywhere, a few spikes, added up by a plain loop."""
        rng = np.random.default_rng(14)
        x = np.ascontiguousarray(data.silu_map(rng, (400, 14, 14)).reshape(1, 400, 14, 14), F)
        model = single("GlobalAveragePool", {"x": [1, 400, 14, 14]}, [1, 400, 1, 1])
        for order in loops.ORDERS:
            right = loops.Loops(order).run(model, {"x": x})
            self.passes(("GlobalAveragePool", order), model, {"x": x}, right)
        wrong = right["y"].copy()
        wrong[0, 7] *= F(1.001)
        assert self.judge.judge(model, {"x": x}, {"y": wrong}).of("WRONG")

    def loops_of_normalisations(self):
        rng = np.random.default_rng(3)
        scale = lambda n: rng.uniform(0.5, 1.5, n).astype(F)  # noqa: E731
        self.loops_of("LayerNormalization", (1, 4, 3136), [("s", scale(3136))], axis=-1)
        self.loops_of("InstanceNormalization", (1, 4, 56, 56), [("s", scale(4)), ("b", scale(4))])

    def loops_of_softmax(self):
        self.loops_of("Softmax", (1, 4, 3136), axis=-1)
        self.loops_of("ReduceLogSumExp", (1, 4, 3136), [("axes", np.array([2]))])

    def einsum_is_a_product(self):
        """The same numbers, multiplied by Einsum and by MatMul, in backends and in loops."""
        rng = np.random.default_rng(5)
        w = rng.normal(0, 0.2, (64, 12)).astype(F)
        einsum = single("Einsum", {"a": [1, 1, 64, 64]}, [1, 1, 64, 12], [("b", w.T.copy())], equation="bcxy,ky->bcxk")
        matmul = single("MatMul", {"a": [1, 1, 64, 64]}, [1, 1, 64, 12], [("b", w)])
        for kind in ("silu_map", "logo_normalised", "letterbox", "gradient", "padded_text"):
            feed = {"a": np.ascontiguousarray(data.KINDS[kind](rng, (1, 64, 64)).reshape(1, 1, 64, 64), F)}
            for model in (einsum, matmul):
                code, text, _ = self.live(model, feed, "--onnxrt", "--engine")
                assert code == 0, (kind, model.graph.node[0].op_type, text[-1500:])
            for order in loops.ORDERS:
                y = loops.Loops(order).run(matmul, feed)
                words = [self.judge.judge(m, feed, y).outputs[0]["verdict"] for m in (einsum, matmul)]
                assert words[0] == words[1] and words[0] in ("agrees", "rounding only"), (kind, order, words)
            off = y["y"].copy()
            off.reshape(-1)[int(np.argmax(np.abs(off)))] *= F(1.0001)
            words = [self.judge.judge(m, feed, {"y": off}).outputs[0]["verdict"] for m in (einsum, matmul)]
            assert words == ["WRONG", "WRONG"], (kind, words)

    def quantised_lstm(self):
        """Quantised together is what a thread computes, so results depend on their number."""
        from onnxruntime import quantization
        n = models.Net(17, 9)
        x = n.input("x", [20, 3, 12])
        y, last, cell = n.op("LSTM", x, n.weight([2, 64, 12]), n.weight([2, 64, 16]), n.weight([2, 128], 0.2), outputs=3, hidden_size=16,
                             direction="bidirectional")
        y = n.op("Reshape", n.op("Transpose", y, perm=[0, 2, 1, 3]), n.const(np.array([20, 3, 32])))
        n.output(n.op("MatMul", y, n.weight([32, 8])), last)
        source, target = self.folder / "lstm.onnx", self.folder / "lstm_quantised.onnx"
        onnx.save(n.model(), source)
        # Of 7 bits: products of 8 saturate on processors without VNNI, which is wrong, and not what this is about.
        quantization.quantize_dynamic(source, target, weight_type=quantization.QuantType.QInt8, reduce_range=True, extra_options={"DefaultTensorType": T.FLOAT})
        model = onnx.load(target)
        assert any(k.op_type == "DynamicQuantizeLSTM" for k in model.graph.node), [k.op_type for k in model.graph.node]
        for seed in (1, 2):
            feed = {"x": np.random.default_rng(seed).standard_normal((20, 3, 12)).astype(F)}
            for threads in (1, 2, 4):
                for marks in ((), LAYERS):
                    code, text, verdict = self.live(model, feed, "--onnxrt", "--threads", str(threads), *marks)
                    assert code in (0, 3) and "WRONG" not in text, (seed, threads, marks, code, text[-2000:])
                    assert verdict["iterations"][0]["threads"] == threads, verdict["iterations"][0]["threads"]

    def dropout_in_training(self):
        model = single("Dropout", {"x": [4, 50]}, [4, 50], [("r", F(0.5)), ("t", np.array(True))], opset=17)
        code, text, _ = self.live(model, {"x": np.ones((4, 50), F)}, "--onnxrt")
        assert code == 0 and "left open by ONNX" in text, (code, text[-1500:])

    def inverse(self):
        """x A A^-1 - x, where A is ill-conditioned: rounding is all that is left."""
        rng = np.random.default_rng(8)
        u, _, v = np.linalg.svd(rng.standard_normal((8, 8)))
        a = (u * np.logspace(0, -6, 8)) @ v
        n = models.Net(17, 0)
        x = n.input("x", [4, 8])
        n.output(n.op("Sub", n.op("MatMul", n.op("MatMul", x, n.const(a.astype(F))), n.const(np.linalg.inv(a.astype(F).astype(float)).astype(F))), x))
        return n.model(), {"x": rng.standard_normal((4, 8)).astype(F)}

    def nothing_is_determined(self):
        """Outputs alone cannot be told from garbage, and the run says so instead of passing."""
        model, feed = self.inverse()
        name = model.graph.output[0].name
        right = backends.Onnxruntime("none").run(model, feed)[name]
        for what, y in (("right", right), ("garbage", right[::-1, ::-1].copy()), ("zeros", np.zeros_like(right))):
            verdict = self.judge.judge(model, feed, {name: y})
            assert verdict.code == 3 and verdict.outputs[0]["verdict"] == "cannot tell", (what, verdict.code, verdict.text[-1500:])
            assert verdict.outputs[0]["checked_digits"] < 2, verdict.outputs[0]
        code, text, verdict = self.live(model, feed, "--onnxrt")
        assert code == 0 and verdict["iterations"][0].get("traced"), (code, text[-1500:])

    def flipped_bit(self):
        """(model, faulty model, feed): one weight of a quantised network lost its sign bit, and the output moves by a tenth."""
        model = networks.qdq_net().model()
        feed = data.feed(model, "photo", 3)
        before = backends.Onnxruntime("none").run(model, feed)
        name = model.graph.output[0].name
        rng = np.random.default_rng(0)
        nodes = [n for n in model.graph.node if n.op_type == "DequantizeLinear" and mistakes.is_weight(model, n.input[0])]
        values = {w.name: numpy_helper.to_array(w) for w in model.graph.initializer}
        flip = next(f for n, _, _, f in mistakes.MISTAKES if n == "weight_bit_7")
        best = None
        for node in nodes:
            for _ in range(6):
                faulty = flip(model, node, rng, values)
                if faulty is None:
                    continue
                after = backends.Onnxruntime("none").run(faulty, feed)
                change = float(np.abs(after[name] - before[name]).max() / np.abs(before[name]).max())
                if best is None or change > best[0]:
                    best = change, faulty, node.name
        assert best[0] > 0.05, best[0]
        return model, best[1], feed, best[2]

    def quantised_outputs_only(self):
        model, faulty, feed, _ = self.flipped_bit()
        verdict = self.judge.judge(model, feed, backends.Onnxruntime("none").run(faulty, feed))
        assert verdict.code in (1, 3), (verdict.code, verdict.text[-1500:])
        if verdict.code == 3:
            assert verdict.of("cannot tell") or verdict.of("unclear"), verdict.text[-1500:]

    def faulty_runner(self, before, after):
        """A runner that has another weight than the model that it gets."""
        (wrong,) = {w.name for w in after.graph.initializer} - {w.name for w in before.graph.initializer}
        onnx.save_tensor(next(w for w in after.graph.initializer if w.name == wrong), self.folder / "wrong.pb")
        node, i = next((n.name, list(n.input).index(wrong)) for n in after.graph.node if wrong in n.input)
        script = self.folder / "runner.py"
        script.write_text(f'''
import onnx, onnxruntime
class Faulty:
    def __init__(self, model_path):
        model = onnx.load(model_path)
        wrong = onnx.load_tensor({str(self.folder / "wrong.pb")!r})
        node = next(n for n in model.graph.node if n.name == {node!r})
        model.graph.initializer.append(wrong)
        node.input[{i}] = wrong.name
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        self.session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    def infer(self, feed_dict):
        names = [o.name for o in self.session.get_outputs()]
        return dict(zip(names, self.session.run(names, feed_dict)))
''')
        return script

    def quantised_run_is_traced(self):
        """A runner that can run again shows its layers by itself, and the node with the flipped bit is named."""
        model, faulty, feed, node = self.flipped_bit()
        code, text, verdict = self.live(model, feed, "--runner-script", self.faulty_runner(model, faulty))
        assert code == 1, (code, text[-3000:])
        assert f"'{node}'" in text, (node, text[-3000:])

    def float16_encoder(self):
        model = models.to_type(networks.text_encoder().model(), T.FLOAT16)
        feed = data.feed(model, "photo", 4)
        shown = backends.mark_all(model)
        suspect = backends.Onnxruntime("none")
        return model, feed, shown, suspect

    def float16_fault(self, fault, op):
        """With all layers shown that node alone is WRONG."""
        model, feed, shown, suspect = self.float16_encoder()
        results = suspect.run(shown, feed)
        self.passes("float16", model, feed, results, *LAYERS)
        values = results | feed | {w.name: numpy_helper.to_array(w) for w in model.graph.initializer}
        node = next(n for n in model.graph.node if n.op_type == op)
        make = next(f for n, _, _, f in mistakes.MISTAKES if n == fault)
        faulty = faults.copy_of(make(model, node, np.random.default_rng(1), values))
        del faulty.graph.output[:]
        faulty.graph.output.extend(shown.graph.output)
        verdict = self.judge.judge(model, feed, suspect.run(faulty, feed), *LAYERS)
        assert verdict.code != 0, (fault, verdict.text[-1500:])
        at = [(o["node"], o["verdict"], o["ratio"], o["note"]) for o in verdict.outputs if o["verdict"] not in ("agrees", "rounding only", "inherited")]
        assert [o["node"] for o in verdict.of("WRONG")] == [f"'{node.name}' ({op})"], (fault, verdict.code, at)

    def float16_gelu_by_tanh(self):
        self.float16_fault("gelu_by_tanh", "Gelu")

    def float16_factor(self):
        self.float16_fault("factor_in_all_elements", "MatMul")

    def float16_epsilon(self):
        self.float16_fault("epsilon_outside_the_root", "LayerNormalization")

    def modes_agree(self):
        """Convolutions, squeeze and excitation, averages, on pictures of [0, 255]: both ways of running give the same answer."""
        for make in (networks.efficient, models.mobile):
            model = make().model()
            for kind in ("letterbox_255", "flat_255", "photo_255"):
                feed = data.feed(model, kind, 6)
                codes = [self.live(model, feed, "--onnxrt", "--engine", *marks)[0] for marks in ((), LAYERS)]
                assert codes == [0, 0], (make.__name__, kind, codes)

    def denormals_are_not_cut(self):
        """Zero is what a processor may make of a number below the normal ones; three bits of it are not."""
        model = single("Mul", {"a": [64], "b": [64]}, [64])
        rng = np.random.default_rng(2)
        feed = {"a": (rng.uniform(1, 2, 64) * 1e-20).astype(F), "b": (rng.uniform(1, 2, 64) * 1e-20).astype(F)}
        y = (feed["a"].astype(float) * feed["b"]).astype(F)
        assert 0 < y.min() and y.max() < 2.0 ** -126
        self.passes("kept", model, feed, {"y": y})
        self.passes("zero", model, feed, {"y": np.zeros_like(y)})
        cut = (y.view(np.uint32) & ~np.uint32(0x3FFF)).view(F)
        assert (cut != y).any() and cut.any()
        verdict = self.judge.judge(model, feed, {"y": cut})
        assert verdict.code == 1 and verdict.of("WRONG"), (verdict.code, verdict.text[-1500:])

    def moody_runner(self, body):
        script = self.folder / "moody.py"
        script.write_text(f'''
import onnxruntime
class Moody:
    calls = 0
    def __init__(self, model_path):
        self.session = onnxruntime.InferenceSession(model_path)
    def infer(self, feed_dict):
        Moody.calls += 1
        names = [o.name for o in self.session.get_outputs()]
        results = dict(zip(names, self.session.run(names, feed_dict)))
{body}
        return results
''')
        return script

    def not_the_same_twice(self):
        """Wrong at every second call: nobody is said to err in what it fuses, nor any node."""
        model = networks.table().model()
        feed = data.feed(model, "with_gaps", 1)
        wrong = "        if Moody.calls % 2: results[names[0]] = results[names[0]] * 1.5\n"
        code, text, verdict = self.live(model, feed, "--runner-script", self.moody_runner(wrong))
        assert code == 1 and "Not reproducible" in text and "fuses" not in text, (code, text[-3000:])
        assert verdict["iterations"][0]["not_reproducible"], verdict["iterations"][0]["not_reproducible"]
        assert "First Divergence" not in text, text[-3000:]

    def a_wish_for_float16(self):
        """Asked for float16, an engine is judged in float16: what it then errs is no fault."""
        model = networks.efficient().model()
        code, text, _ = self.live(model, data.feed(model, "photo", 2), "--trt", "--fp16")
        assert code == 0, (code, text[-2500:])

    def reporters_files(self, folder):
        """The files as they came."""
        f = folder
        run = lambda name, *o: self.command(f / f"{name}.onnx", *o)  # noqa: E731
        for name in sorted(p.name[:-len(".plainloop.json")] for p in f.glob("*.plainloop.json")):
            code, text, _ = run(name, "--load-inputs", f / f"{name}.in.json", "--load-outputs", f / f"{name}.plainloop.json")
            assert code == 0, (name, code, text[-1500:])
        for name in ("einsum_channel", "einsum_as_matmul"):
            code, text, _ = run(name, "--onnxrt", "--engine", "--load-inputs", f / "einsum_channel.in.json")
            assert code == 0, (name, code, text[-1500:])
        if products_saturate():
            print("skipped in part: dqlstm: without VNNI ONNX Runtime's products of 8 bits saturate, which is wrong", flush=True)
        for threads in () if products_saturate() else ("1", "2"):
            code, text, _ = run("dqlstm", "--onnxrt", "--threads", threads, "--load-inputs", f / "dqlstm.in.json", *LAYERS)
            assert code in (0, 3), (threads, code, text[-1500:])
        code, text, _ = run("dropout_training", "--onnxrt")
        assert code == 0 and "left open" in text, (code, text[-1500:])
        both = lambda d, *o: self.command(f / d / "model.onnx", "--load-inputs", f / d / "in.json", "--load-outputs", f / d / "suspect.json", "--partial", *o)  # noqa: E731
        code, text, _ = both("quant_outputs_only")
        assert code in (1, 3), ("quant_outputs_only", code, text[-1500:])
        code, text, _ = both("fp16_gelu_tanh_layers", *LAYERS)
        assert code == 1, ("fp16_gelu_tanh_layers", code, text[-1500:])
        model = onnx.load(f / "ill_conditioned.onnx")
        verdict = self.judge.judge(model, {"x": np.random.default_rng(1).standard_normal((4, 8)).astype(F)}, {"sub_y": np.full((4, 8), 1e-3, F)})
        assert verdict.code == 3, ("ill_conditioned", verdict.code, verdict.text[-1500:])


NAMES = ("pool_of_spikes", "loops_of_normalisations", "loops_of_softmax", "einsum_is_a_product", "quantised_lstm", "dropout_in_training",
         "nothing_is_determined", "quantised_outputs_only", "quantised_run_is_traced", "float16_gelu_by_tanh", "float16_factor", "float16_epsilon", "modes_agree", "denormals_are_not_cut",
         "not_the_same_twice", "a_wish_for_float16")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("assay")
    parser.add_argument("--files", type=Path)
    parser.add_argument("--only", help="one of the cases")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        cases = Reported(args.assay, folder)
        if args.only:
            return cases.run_all([args.only])
        names = list(NAMES)
        if args.files and args.files.is_dir():
            cases.their_files = lambda: cases.reporters_files(args.files)
            names.append("their_files")
        else:
            print(f"skipped in part: the reporters' own files are not in {args.files}", flush=True)
        return cases.run_all(names)


if __name__ == "__main__":
    sys.exit(main())
