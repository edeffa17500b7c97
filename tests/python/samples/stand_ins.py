"""Models and data that NVIDIA's samples download, made here: small networks of the same interface, and what ONNX Runtime makes of them."""

import contextlib
import os
import shutil
import struct
import subprocess

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

PICTURES = ("binoculars.jpeg", "reflex_camera.jpeg", "tabby_tiger_cat.jpg")


def session(path):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def weight(name, array):
    return numpy_helper.from_array(np.asarray(array, order="C"), name)


def save(nodes, inputs, outputs, weights, path, opset=17):
    values = [[helper.make_tensor_value_info(*v) for v in side] for side in (inputs, outputs)]
    graph = helper.make_graph(nodes, "graph", *values, initializer=weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, path)


# ---- pictures and a classifier of them ----


def picture(path, seed, size=(320, 280)):
    from PIL import Image

    random = np.random.default_rng(seed)
    coarse = random.integers(0, 256, (7, 8, 3), dtype=np.uint8)
    Image.fromarray(coarse).resize(size, Image.BICUBIC).save(path)


def normalized(path):
    """As the samples with ResNet-50 read a picture."""
    from PIL import Image

    pixels = np.asarray(Image.open(path).resize((224, 224), Image.LANCZOS)).transpose([2, 0, 1]).astype(np.float32)
    return ((pixels / 255.0 - 0.45) / 0.225).astype(np.float32)[None]


def resnet(assay, folder):
    """ResNet50.onnx, three pictures and the names of classes. The last layer is fitted: each picture is a class of its own, which a wrong
    result would miss."""
    os.makedirs(folder)
    path = os.path.join(folder, "ResNet50.onnx")
    subprocess.run([assay, "template", "model", "resnet-50", "-o", path], check=True, capture_output=True)
    paths = [os.path.join(folder, name) for name in PICTURES]
    for seed, p in enumerate(paths):
        picture(p, seed)
    model = onnx.load(path)
    last = [n for n in model.graph.node if n.op_type == "Gemm"][-1]
    renamed = {model.graph.input[0].name: "gpu_0/data_0", model.graph.output[0].name: "gpu_0/softmax_1"}
    for n in model.graph.node:
        n.input[:] = [renamed.get(i, i) for i in n.input]
        n.output[:] = [renamed.get(o, o) for o in n.output]
    model.graph.input[0].name, model.graph.output[0].name = "gpu_0/data_0", "gpu_0/softmax_1"
    model.graph.output.append(helper.make_tensor_value_info(last.input[0], TensorProto.FLOAT, None))
    onnx.save(model, path)
    del model.graph.output[1:]
    features = np.concatenate([session(path).run([last.input[0]], {"gpu_0/data_0": normalized(p)})[0] for p in paths])
    mean, classes = features.mean(0), [17, 400, 901]
    rows = 10 * (features - mean) / np.square(features - mean).sum(1, keepdims=True)
    for t in model.graph.initializer:
        if t.name in last.input[1:]:
            values = 0.01 * numpy_helper.to_array(t)
            values[classes] = rows if t.name == last.input[1] else -rows @ mean
            t.CopyFrom(weight(t.name, values.astype(np.float32)))
    onnx.save(model, path)
    labels = [f"class {i}" for i in range(1000)]
    network = session(path)
    for name, p in zip(PICTURES, paths):
        labels[int(np.argmax(network.run(None, {"gpu_0/data_0": normalized(p)})[0]))] = os.path.splitext(name)[0].replace("_", " ")
    assert len(set(labels)) == 1000 and sum(not label.startswith("class") for label in labels) == 3, "the pictures are no classes of their own"
    with open(os.path.join(folder, "class_labels.txt"), "w") as file:
        file.write("\n".join(labels))


# ---- a detector whose outputs' shapes the data decide ----


def detector(path):
    """An input `image` (3, h, w); boxes (n, 4), classes (n), scores (n): places of a coarse grid that are bright in a channel and that
    non-maximum suppression leaves."""
    nodes = [
        helper.make_node("Unsqueeze", ["image", "axis0"], ["batch"]),
        helper.make_node("AveragePool", ["batch"], ["pooled"], kernel_shape=[32, 32], strides=[32, 32]),
        helper.make_node("Mul", ["pooled", "contrast"], ["logits"]),  # so that no two scores are 1
        helper.make_node("Sigmoid", ["logits"], ["scores4"]),
        helper.make_node("Shape", ["scores4"], ["extents"]),
        helper.make_node("Reshape", ["scores4", "flat"], ["scores3"]),  # (1, 3, places)
        helper.make_node("Gather", ["extents", "three"], ["columns"]),
        helper.make_node("Gather", ["scores3", "zero"], ["scores2"]),  # (3, places)
        helper.make_node("Shape", ["scores2"], ["extents2"]),
        helper.make_node("Gather", ["extents2", "one"], ["places"]),
        helper.make_node("Range", ["zero", "places", "one"], ["place"]),
        helper.make_node("Div", ["place", "columns"], ["row"]),
        helper.make_node("Mod", ["place", "columns"], ["column"]),
    ]
    for name in ("row", "column"):
        nodes += [
            helper.make_node("Cast", [name], [f"{name}_f"], to=TensorProto.FLOAT),
            helper.make_node("Mul", [f"{name}_f", "step"], [f"{name}_0"]),
            helper.make_node("Add", [f"{name}_0", "size"], [f"{name}_1"]),
        ]
        nodes += [helper.make_node("Unsqueeze", [f"{name}_{k}", "axis1"], [f"{name}_{k}u"]) for k in (0, 1)]
    nodes += [
        helper.make_node("Concat", ["column_0u", "row_0u", "column_1u", "row_1u"], ["all_boxes"], axis=1),
        helper.make_node("Unsqueeze", ["all_boxes", "axis0"], ["boxes3"]),
        helper.make_node("NonMaxSuppression", ["boxes3", "scores3", "most", "overlap", "least"], ["chosen"]),
        helper.make_node("Slice", ["chosen", "at1", "at2", "axis1"], ["chosen_class"]),
        helper.make_node("Slice", ["chosen", "at2", "at3", "axis1"], ["chosen_place"]),
        helper.make_node("Squeeze", ["chosen_class", "axis1"], ["class"]),
        helper.make_node("Squeeze", ["chosen_place", "axis1"], ["chosen_index"]),
        helper.make_node("Gather", ["all_boxes", "chosen_index"], ["boxes"]),
        helper.make_node("Add", ["class", "one"], ["labels"]),
        helper.make_node("Slice", ["chosen", "at1", "at3", "axis1"], ["pairs"]),
        helper.make_node("GatherND", ["scores2", "pairs"], ["scores"]),
    ]
    weights = [weight(name, np.array(v, np.int64)) for name, v in {
        "axis0": [0], "axis1": [1], "at1": [1], "at2": [2], "at3": [3], "zero": 0, "one": 1, "three": 3, "flat": [1, 3, -1], "most": [20],
    }.items()]  # fmt: skip
    weights += [weight(name, np.array(v, np.float32)) for name, v in {"contrast": 0.03, "step": 32, "size": 60, "overlap": [0.3], "least": [0.9]}.items()]
    F, I = TensorProto.FLOAT, TensorProto.INT64
    save(nodes, [("image", F, [3, "h", "w"])], [("boxes", F, ["n", 4]), ("labels", I, ["n"]), ("scores", F, ["n"])], weights, path)


def detections(model, path):
    """What the sample has to find in a picture, by ONNX Runtime: rows of xmin, ymin, xmax, ymax, score."""
    from PIL import Image

    image = Image.open(path)
    ratio = 800.0 / min(image.size)
    scaled = image.resize((int(ratio * image.size[0]), int(ratio * image.size[1])), Image.BILINEAR)
    pixels = np.transpose(np.array(scaled)[:, :, [2, 1, 0]].astype("float32"), [2, 0, 1])
    for i, mean in enumerate((102.9801, 115.9465, 122.7717)):
        pixels[i] = pixels[i] - mean
    h, w = (int(np.ceil(extent / 32) * 32) for extent in pixels.shape[1:])
    padded = np.zeros((3, h, w), np.float32)
    padded[:, : pixels.shape[1], : pixels.shape[2]] = pixels
    boxes, _, scores = session(model).run(None, {"image": padded})
    keep = scores > 0.9
    return np.concatenate([boxes[keep] / ratio, scores[keep, None]], axis=1)


# ---- a network that answers a question ----

WORDS = "a quick brown fox jumps over the lazy dog . what color is ?".split()


def reader(path):
    """As the sample's model: four CategoryMapper for words and characters of a text and of a question; the answer is the word whose
    row of a table, times the weights `Parameter576_B_0` and `W_0`, is largest. With ones in their place it is another one."""
    random = np.random.default_rng(3)
    table = random.uniform(-1, 1, (len(WORDS) + 1, 8)).astype(np.float32)
    table[WORDS.index("brown")] = [-1, -1, -1, 2, -1, -1, -1, -1]
    letters = [chr(c) for c in range(32, 127)]
    inputs, nodes = [], []
    for number, name, values in ((4, "context_word", WORDS), (5, "context_char", letters), (6, "query_word", WORDS), (7, "query_char", letters)):
        inputs.append((name, TensorProto.STRING, [name[0], 1] if "word" in name else [name[0], 1, 1, 16]))
        mapper = f"CategoryMapper_{number}"
        nodes.append(helper.make_node("CategoryMapper", [name], [mapper], mapper, domain="ai.onnx.ml", cats_strings=values,
                                      cats_int64s=list(range(len(values))), default_int64=len(WORDS) if "word" in name else 0))  # fmt: skip
        nodes.append(helper.make_node("Cast", [mapper], [f"{name}_f"], to=TensorProto.FLOAT))
    nodes += [
        helper.make_node("Gather", ["table", "CategoryMapper_4"], ["rows"]),  # (c, 1, 8)
        helper.make_node("Squeeze", ["rows"], ["rows2"], axes=[1]),
        helper.make_node("Mul", ["rows2", "Parameter576_B_0"], ["scaled"]),
        helper.make_node("MatMul", ["scaled", "W_0"], ["by_word"]),  # (c, 1)
        helper.make_node("ReduceMean", ["context_char_f"], ["by_char"], axes=[1, 2, 3], keepdims=0),
        helper.make_node("ReduceMean", ["query_word_f"], ["query1"], keepdims=0),
        helper.make_node("ReduceMean", ["query_char_f"], ["query2"], keepdims=0),
        helper.make_node("Add", ["query1", "query2"], ["query"]),
        helper.make_node("Add", ["by_char", "query"], ["others"]),
        helper.make_node("Mul", ["others", "little"], ["weighed"]),
        helper.make_node("Unsqueeze", ["weighed"], ["weighed2"], axes=[1]),
        helper.make_node("Add", ["by_word", "weighed2"], ["score"]),
        helper.make_node("Transpose", ["score"], ["score2"], perm=[1, 0]),
        helper.make_node("Hardmax", ["score2"], ["hardmax"], "Hardmax", axis=1),
        helper.make_node("Cast", ["hardmax"], ["chosen"], to=TensorProto.BOOL),
        helper.make_node("Reshape", ["chosen", "flat"], ["condition"]),
        helper.make_node("Shape", ["CategoryMapper_4"], ["extents"]),
        helper.make_node("Gather", ["extents", "zero"], ["count"]),
        helper.make_node("Range", ["zero", "count", "one"], ["places"]),
        helper.make_node("Unsqueeze", ["places"], ["places2"], axes=[0]),
        helper.make_node("Compress", ["places2", "condition"], ["start_pos"], "Compress", axis=1),
        helper.make_node("Mul", ["start_pos", "one"], ["end_pos"]),
    ]
    weights = [weight(n, np.array(v, np.int64)) for n, v in {"zero": 0, "one": 1, "flat": [-1]}.items()]
    weights += [weight("table", table), weight("little", np.float32(1e-4)), weight("W_0", np.ones((8, 1), np.float32)),
                weight("Parameter576_B_0", np.eye(8, dtype=np.float32)[3:4])]  # fmt: skip
    values = [[helper.make_tensor_value_info(*v) for v in inputs], [helper.make_tensor_value_info(n, TensorProto.INT64, [1, 1]) for n in ("start_pos", "end_pos")]]
    graph = helper.make_graph(nodes, "graph", *values, initializer=weights)
    for number, (_, _, shape) in enumerate(inputs):
        graph.value_info.append(helper.make_tensor_value_info(f"CategoryMapper_{4 + number}", TensorProto.INT64, shape))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11), helper.make_opsetid("ai.onnx.ml", 1)], ir_version=6)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    onnx.save(model, path)


NLTK = r"""import re


class data:
    @staticmethod
    def find(name):
        return name


def word_tokenize(text):
    return re.findall(r"\w+|[^\w\s]", text)
"""


# ---- packages of which a sample imports nothing but a name ----


def packages(folder):
    """Modules for PYTHONPATH: a tokenizer in the place of one that downloads its tables, and a name that is imported and never used."""
    os.makedirs(os.path.join(folder, "nltk"))
    with open(os.path.join(folder, "nltk", "__init__.py"), "w") as file:
        file.write(NLTK)
    os.makedirs(os.path.join(folder, "detectron2"))
    for name, text in (("__init__.py", ""), ("config.py", "def get_cfg():\n    raise NotImplementedError\n")):
        with open(os.path.join(folder, "detectron2", name), "w") as file:
            file.write(text)


def segmenter(path):
    """A network of fixed extents with the five outputs of the sample's Mask R-CNN."""
    F, I = TensorProto.FLOAT, TensorProto.INT64
    nodes = [
        helper.make_node("Conv", ["input", "w"], ["features"], pads=[1, 1, 1, 1]),
        helper.make_node("GlobalMaxPool", ["features"], ["peaks"]),
        helper.make_node("Flatten", ["peaks"], ["flat"]),
        helper.make_node("TopK", ["flat", "k"], ["scores", "classes"]),
        helper.make_node("Gather", ["flat", "four"], ["boxes"], axis=1),
        helper.make_node("ReduceMax", ["features"], ["masks"], axes=[1], keepdims=1),
        helper.make_node("ReduceSum", ["classes", "axis"], ["num"], keepdims=1),
    ]
    w = np.random.default_rng(0).standard_normal((8, 3, 3, 3)).astype(np.float32)
    weights = [weight("w", w)] + [weight(n, np.array(v, np.int64)) for n, v in {"k": [4], "four": [[0, 1, 2, 3]] * 4, "axis": [1]}.items()]
    save(nodes, [("input", F, [1, 3, 64, 64])], [("num", I, [1, 1]), ("boxes", F, [1, 4, 4]), ("scores", F, [1, 4]), ("classes", I, [1, 4]),
                                                 ("masks", F, [1, 1, 64, 64])], weights, path)  # fmt: skip


# ---- digits ----

DIGITS = "/tmp/mnist"


def write_digits(folder, name, count, seed):
    """Pictures of 28 x 28 bytes in MNIST's form: a coarse pattern for each digit, with noise."""
    random = np.random.default_rng(seed)
    patterns = np.random.default_rng(0).integers(0, 2, (10, 7, 7)) * 200
    labels = random.integers(0, 10, count)
    pictures = np.kron(patterns[labels], np.ones((1, 4, 4), np.int64)) + random.integers(0, 50, (count, 28, 28))
    for kind, array in (("images-idx3", pictures), ("labels-idx1", labels)):
        with open(os.path.join(folder, f"{name}-{kind}-ubyte"), "wb") as file:
            file.write(struct.pack(f">{array.ndim + 1}i", 2048 + array.ndim, *array.shape) + array.astype(np.uint8).tobytes())


@contextlib.contextmanager
def digits():
    """Where the sample looks for MNIST, unless something is there."""
    if os.path.exists(DIGITS):
        yield
        return
    raw = os.path.join(DIGITS, "data", "MNIST", "raw")
    os.makedirs(raw)
    try:
        write_digits(raw, "train", 3200, 1)
        write_digits(raw, "t10k", 300, 2)
        yield
    finally:
        shutil.rmtree(DIGITS)
