#!/usr/bin/env python3
"""Runs small models that ONNX Runtime's own tools quantise or fuse, and a decoder layer in its operators, on the reference,
the engine and ONNX Runtime; no result may be wrong.

usage: models_test.py ASSAY FOLDER

FOLDER is where the models are made. Exit status 77 when there are no packages to make them with.
"""

import logging
import pathlib
import shutil
import subprocess
import sys

SKIPPED = 77
try:
    import numpy as np
    import onnx
    import onnxruntime as ort
    from onnx import TensorProto, helper, numpy_helper
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static
    from polygraphy.json import load_json, save_json
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(SKIPPED)

logging.disable(logging.WARNING)
rng = np.random.default_rng(0)
MS = "com.microsoft"


class Builder:
    """A graph of one input x and one output y; weights are drawn."""

    def __init__(self):
        self.nodes, self.weights = [], []

    def weight(self, *shape):
        spread = 1 / np.sqrt(np.prod(shape[1:])) if len(shape) > 1 else 0.3
        return self.constant((rng.standard_normal(shape) * spread).astype(np.float32))

    def constant(self, value):
        self.weights.append(numpy_helper.from_array(np.asarray(value), f"w{len(self.weights)}"))
        return self.weights[-1].name

    def op(self, kind, *inputs, outputs=1, domain="", **attributes):
        names = [f"v{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, domain=domain, **attributes))
        return names[0]

    def save(self, path, shape, result):
        self.nodes[-1].output[0] = "y"
        graph = helper.make_graph(self.nodes, path.stem, [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                                  [helper.make_tensor_value_info("y", TensorProto.FLOAT, result)], self.weights)
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid(MS, 1)]
        onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)


class Samples(CalibrationDataReader):
    def __init__(self, shape):
        self.samples = iter([{"x": rng.standard_normal(shape).astype(np.float32)} for _ in range(8)])

    def get_next(self):
        return next(self.samples, None)


def quantized_nets(folder):
    """A small convolutional network in the formats of onnxruntime.quantization."""
    b, shape = Builder(), [1, 3, 12, 12]
    first = b.op("Relu", b.op("Conv", "x", b.weight(8, 3, 3, 3), b.weight(8), pads=[1] * 4))
    second = b.op("Conv", first, b.weight(8, 8, 3, 3), b.weight(8), pads=[1] * 4)
    v = b.op("LeakyRelu", b.op("Add", second, first), alpha=0.1)
    v = b.op("Flatten", b.op("GlobalAveragePool", b.op("AveragePool", v, kernel_shape=[2, 2], strides=[2, 2])))
    b.op("Gemm", v, b.weight(10, 8), b.weight(10), transB=1)
    plain = folder / "net.onnx"
    b.save(plain, shape, [1, 10])
    for fmt in (QuantFormat.QOperator, QuantFormat.QDQ):
        path = folder / f"net_{fmt}.onnx"
        quantize_static(str(plain), str(path), Samples(shape), quant_format=fmt, activation_type=QuantType.QUInt8,
                        weight_type=QuantType.QInt8)
        yield path


def dynamic_lstm(folder):
    """An LSTM as dynamic quantisation writes it; of weights with 7 bits, as CPUs without VNNI need them."""
    b, steps, inputs, hidden = Builder(), 6, 10, 8
    b.op("LSTM", "x", b.weight(1, 4 * hidden, inputs), b.weight(1, 4 * hidden, hidden), b.weight(1, 8 * hidden), hidden_size=hidden)
    plain, path = folder / "lstm.onnx", folder / "lstm_dynamic.onnx"
    b.save(plain, [steps, 1, inputs], [steps, 1, 1, hidden])
    quantize_dynamic(str(plain), str(path), weight_type=QuantType.QInt8, reduce_range=True)
    yield path


def fused_layer(folder):
    """A feed-forward layer as ONNX Runtime saves it after its own fusions."""
    b, d, h = Builder(), 32, 64
    v = b.op("Add", b.op("MatMul", "x", b.weight(d, h)), b.weight(h))
    erf = b.op("Erf", b.op("Div", v, b.constant(np.float32(np.sqrt(2)))))
    v = b.op("Mul", b.op("Mul", v, b.op("Add", erf, b.constant(np.float32(1)))), b.constant(np.float32(0.5)))
    v = b.op("Add", b.op("MatMul", v, b.weight(h, d)), b.weight(d))
    b.op("LayerNormalization", b.op("Add", v, "x"), b.weight(d), b.weight(d), epsilon=1e-5)
    plain, path = folder / "layer.onnx", folder / "layer_fused.onnx"
    b.save(plain, [2, 8, d], [2, 8, d])
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(path)
    ort.InferenceSession(str(plain), options, providers=["CPUExecutionProvider"])
    yield path


def decoder_layer(folder):
    """A layer of a language model with weights of 4 bits, as exporters write it."""
    b, tokens, d, heads, kv, size = Builder(), 6, 64, 4, 2, 16
    packed = (heads + 2 * kv) * size

    def product(v, k, n):
        levels, scales = rng.integers(0, 256, (n, k // 32, 16), dtype=np.uint8), rng.uniform(0.01, 0.05, (n, k // 32)).astype(np.float32)
        return b.op("MatMulNBits", v, b.constant(levels), b.constant(scales), domain=MS, K=k, N=n, bits=4, block_size=32)

    angles = np.arange(tokens)[:, None] / 100.0 ** (np.arange(size // 2) / (size // 2))[None, :]
    tables = [b.constant(f(angles).astype(np.float32)) for f in (np.cos, np.sin)]
    lengths = [b.constant(np.array([tokens - 1], np.int32)), b.constant(np.array([tokens], np.int32))]
    v = b.op("SimplifiedLayerNormalization", "x", b.weight(d), axis=-1)
    v = b.op("GroupQueryAttention", product(v, d, packed), "", "", "", "", *lengths, *tables, domain=MS, outputs=3,
             num_heads=heads, kv_num_heads=kv, do_rotary=1)
    v = b.op("SkipSimplifiedLayerNormalization", product(v, d, d), "x", b.weight(d), domain=MS)
    product(b.op("QuickGelu", product(v, d, 128), domain=MS, alpha=1.0), 128, d)
    path = folder / "decoder.onnx"
    b.save(path, [1, tokens, d], [1, tokens, d])
    yield path


def experts(folder):
    """Mixtures of experts, as ONNX Runtime GenAI's builder writes them, between nodes that are known here."""
    d, count, hidden = 32, 4, 64
    b = Builder()
    router = b.op("MatMul", "x", b.weight(d, count))
    v = b.op("MoE", "x", router, b.weight(count, hidden, d), b.weight(count, hidden), b.weight(count, d, hidden), b.weight(count, d), domain=MS,
             k=2, activation_type="silu", normalize_routing_weights=1)
    b.op("Relu", v)
    b.save(folder / "experts.onnx", [6, d], [6, d])
    yield folder / "experts.onnx", "MoE"
    b = Builder()
    router = b.op("MatMul", "x", b.weight(d, count))
    levels = [b.constant(rng.integers(0, 256, (count, *s), dtype=np.uint8)) for s in ((hidden, d), (d, hidden))]
    scales = [b.constant(rng.uniform(0.001, 0.003, (count, n)).astype(np.float32)) for n in (hidden, d)]
    v = b.op("QMoE", "x", router, levels[0], scales[0], "", levels[1], scales[1], domain=MS, k=2, expert_weight_bits=8,
             activation_type="silu", normalize_routing_weights=1)
    b.op("Relu", v)
    b.save(folder / "experts_quantized.onnx", [6, d], [6, d])
    yield folder / "experts_quantized.onnx", "QMoE"


def unknown_operators(assay, folder):
    """A net around operators that are unknown here: it is judged, traced and proven, and ONNX Runtime is named as their evaluator."""
    b, d = Builder(), 16
    v = b.op("MatMul", "x", b.weight(d, d))
    v = b.op("ScaledSiLU", v, domain=MS, alpha=0.5)
    v = b.op("Identity", v)
    v = b.op("Relu", b.op("MatMul", v, b.weight(d, d)))
    b.op("ReduceSum", b.op("UnfoldTensor", v, domain=MS, dim=1, size=4, step=2), b.constant(np.array([2])), keepdims=0)
    path, small, saved = folder / "unknown.onnx", folder / "unknown_small.onnx", folder / "unknown_results.json"
    b.save(path, [3, d], [3, 7])

    def run(*words):
        done = subprocess.run([assay, *map(str, words)], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    names = "ONNX Runtime evaluates its nodes"
    for model, operator in experts(folder):
        status, text = run("run", model, "--onnxrt", "--ref", "--arbiter")
        told = f"The operator {operator} of domain '{MS}' is unknown: {names}"
        yield f"{operator} is judged around", status == 0 and told in text and text.count(" 0 wrong") == 2, text
        status, text = run("surgeon", "sanitize", model, "--fold-constants", "--simplify", "--prove", "-o", small)
        yield f"{operator} is proven around", status == 0 and names in text, text
    status, text = run("run", path, "--onnxrt", "--ref", "--arbiter", "--onnx-outputs", "mark", "all", "--save-outputs", saved)
    yield "judged", status == 0 and text.count(names) == 2 and text.count(" 0 wrong") == 2, text
    status, text = run("surgeon", "sanitize", path, "--fold-constants", "--simplify", "--prove", "-o", small)
    left = [n.op_type for n in onnx.load(small).graph.node] if small.exists() else []
    yield "proven", status == 0 and names in text and "Identity" not in left and "ScaledSiLU" in left, text
    # A result that is wrong between the two unknown nodes is traced to the node that made it.
    relu = next(n.output[0] for n in onnx.load(path).graph.node if n.op_type == "Relu")
    results = load_json(str(saved))
    for runner in results.keys():
        results[runner][0][relu] = results[runner][0][relu] + np.float32(1)
    save_json(results, str(saved))
    status, text = run("run", path, "--ref", "--load-outputs", saved, "--arbiter", "--onnx-outputs", "mark", "all")
    yield "traced", status == 1 and "(Relu)" in text, text
    # Of ONNX's own domain: what was experimental until opset 9, as converters of CoreML and Caffe2 wrote it.
    nodes = [onnx.helper.make_node("ImageScaler", ["x"], ["s"], scale=0.5, bias=[0.25, -1.0]), onnx.helper.make_node("Relu", ["s"], ["y"])]
    ends = [onnx.helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, [1, 2, 4, 4]) for n in "xy"]
    graph = onnx.helper.make_graph(nodes, "g", ends[:1], ends[1:])
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 8)], ir_version=3), path)
    status, text = run("run", path, "--onnxrt", "--ref", "--arbiter")
    yield "experimental", status == 0 and text.count(names) == 1 and text.count(" 0 wrong") == 2, text


def main():
    assay, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    wrong = 0
    for make in (quantized_nets, dynamic_lstm, fused_layer, decoder_layer):
        for path in make(folder):
            fused = sorted({n.op_type for n in onnx.load(path).graph.node if n.domain == MS})
            # Noise of more lanes shows which levels rounding decides.
            command = [assay, "run", str(path), "--ref", "--onnxrt", "--engine", "--arbiter-samples", "16"]
            run = subprocess.run(command, capture_output=True, text=True)
            good = run.returncode == 0 and "WRONG" not in run.stdout and run.stdout.count("0 wrong") >= 3
            print(f"{'passed' if good else 'FAILED'} {path.name}: {' '.join(fused) or 'no operator of com.microsoft'}")
            wrong += not good
            if not good:
                print(run.stdout[-4000:], run.stderr[-2000:])
    for what, good, text in unknown_operators(assay, folder):
        print(f"{'passed' if good else 'FAILED'} unknown operators: {what}")
        wrong += not good
        if not good:
            print(text[-4000:])
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
