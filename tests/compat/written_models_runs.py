"""What written_models_check.py does to a model: every command that writes one, with its main options."""

import dataclasses
import pathlib

import onnx

# How the outputs of what is written may differ from those of the original.
BITS = "bits"  # the same operators on the same numbers: not at all
CLOSE = "close"  # constants are folded, fused or rescaled, or an operator is expressed by others: rounded in another place
HALF = "half"  # float16 was asked for
WEIGHTS = "weights"  # the weights are others on purpose: everything else of the file is what it was

# Evaluating these in float64 takes minutes, so that --prove and --force-fallback-shape-inference are left to the others.
SLOW = {"resnet-18", "resnet-50", "yolov8n", "unet", "vit-b-16", "bert-base", "gpt2", "efficientnet-b0", "light_vgg19", "light_resnet50",
        "light_densenet121", "light_inception_v1", "light_inception_v2", "light_bvlc_alexnet", "light_zfnet512"}
# Written as text with all its numbers up to here; larger ones with their weights in a file.
LARGEST_TEXT = 2_000_000


@dataclasses.dataclass
class Run:
    name: str
    commands: list  # carried out one after the other
    out: pathlib.Path
    how: str
    level: int = 2  # of checker_level() that can be expected at most
    may_refuse: str = ""  # words of the message with which the last command may refuse, having written nothing


@dataclasses.dataclass
class Place:
    """A node in the middle of the graph that has one operand besides constants, which another node computes."""

    read: str
    given: str


def place_in(graph):
    """The place nearest to the middle; nothing where there is none."""
    constants = {t.name for t in graph.initializer} | {o for n in graph.node if n.op_type == "Constant" for o in n.output}
    computed, places = set(), []
    for i, n in enumerate(graph.node):
        used = [name for name in n.input if name and name not in constants]
        holds_graph = any(a.type in (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS) for a in n.attribute)
        if len(used) == 1 and used[0] in computed and not holds_graph:
            places.append((abs(i - len(graph.node) / 2), i, Place(used[0], n.output[0])))
        computed.update(n.output)
    return min(places)[2] if places else None


def sanitize_runs(name, path, out, graph, shapes, place, inputs):
    def sanitize(options, how, may_refuse=""):
        return Run(f"sanitize {' '.join(map(str, options))}", [["surgeon", "sanitize", path, "-o", out, *options]], out, how, may_refuse=may_refuse)

    yield sanitize(["--cleanup", "--toposort"], BITS)
    yield sanitize(["--no-shape-inference"], BITS)
    yield sanitize(["--fold-constants"], CLOSE)
    yield sanitize(["--fold-constants", "--no-fold-shapes", "--no-per-pass-shape-inference", "--num-passes", "1"], CLOSE)
    yield sanitize(["--fold-constants", "--fold-size-threshold", "0"], CLOSE)
    yield sanitize(["--simplify"], CLOSE)
    first = next(iter(shapes))
    # A branch that nobody takes may contradict fixed extents, for which ONNX Runtime refuses the whole model.
    has_branches = any(n.op_type == "If" for n in graph.node)
    extents = [f"'d{i}'" if has_branches else str(d) for i, d in enumerate(shapes[first])]
    yield sanitize(["--override-input-shapes", f"{first}:[{','.join(extents)}]"], BITS)
    yield sanitize(["--set-unbounded-dds-upper-bound", "100000", "--cleanup"], BITS)
    yield sanitize(["--fp-to-fp16"], HALF)
    yield sanitize(["--outputs", graph.output[-1].name, "--cleanup"], BITS)
    if place:
        yield sanitize(["--outputs", place.given, "--cleanup"], BITS)
    if len(graph.output) > 1:
        yield sanitize(["--exclude-outputs", graph.output[0].name], BITS)
    if name not in SLOW:
        unknown = "is unknown [at node"  # an operator that nobody can evaluate
        data = ["--load-inputs", inputs] if inputs else [
            "--prove-input-shapes", *(f"{n}:[{','.join(map(str, shape))}]" for n, shape in shapes.items())]
        yield sanitize(["--simplify", "--prove", *data], CLOSE, unknown)
        if inputs is None and all(d.HasField("dim_value") for i in graph.input for d in i.type.tensor_type.shape.dim):
            yield sanitize(["--force-fallback-shape-inference"], BITS, unknown)


def edit_runs(path, out, first, place, fed):
    yield Run("insert at the first input", [["surgeon", "insert", path, "-o", out, "--inputs", first, "--outputs", first, "--op", "Identity"]],
              out, BITS)
    if place:
        words = ["--inputs", place.read, "--outputs", place.read, "--op", "Identity", "--name", "inserted", "--shape-inference"]
        yield Run("insert in the middle", [["surgeon", "insert", path, "-o", out, *words]], out, BITS)
        words = ["--inputs", f"{place.read}:auto:auto", "--outputs", f"{place.given}:auto"]
        yield Run("extract of one node", [["surgeon", "extract", path, "-o", out, *words]], out, BITS)
        yield Run("extract of the first half", [["surgeon", "extract", path, "-o", out, "--outputs", f"{place.given}:auto"]], out, BITS)
        words = ["--onnx-outputs", place.read, place.given, "--save-onnx", out]
        yield Run("run --save-onnx with other outputs", [["run", path, "--onnxrt", *fed, *words]], out, BITS)
    yield Run("run --save-onnx", [["run", path, "--onnxrt", *fed, "--shape-inference", "--save-onnx", out]], out, BITS)


def weight_runs(path, out, scratch):
    stripped = scratch / "stripped.onnx"
    yield Run("prune", [["surgeon", "prune", path, "-o", out]], out, WEIGHTS)
    yield Run("weight-strip, weight-reconstruct",
              [["surgeon", "weight-strip", path, "-o", stripped], ["surgeon", "weight-reconstruct", stripped, "-o", out]], out, WEIGHTS)


def external_data_runs(path, out, scratch, fed):
    outside = scratch / "outside.onnx"
    words = ["--save-external-data", "outside.bin"]
    save = ["surgeon", "sanitize", path, "-o", outside, "--cleanup", *words]
    yield Run("external data", [save], outside, BITS)
    # Its shape inference reads no shapes from files of data.
    yield Run("all data external", [[*save, "--external-data-size-threshold", "0"]], outside, BITS, level=1)
    # What lies beside the data refers to them; what lies elsewhere takes them along.
    yield Run("external data that stay", [save, ["surgeon", "sanitize", outside, "-o", out, "--toposort"]], out, BITS)
    elsewhere = scratch / "elsewhere" / "out.onnx"
    yield Run("external data that move", [save, ["surgeon", "sanitize", outside, "-o", elsewhere, "--toposort"]], elsewhere, BITS)
    each = ["surgeon", "sanitize", path, "-o", outside, "--cleanup", *words[:1], "--no-save-all-tensors-to-one-file"]
    yield Run("external data, each in a file", [each], outside, BITS)
    yield Run("run --save-onnx with external data", [["run", path, "--onnxrt", *fed, "--save-onnx", outside, *words]], outside, BITS)


def text_runs(path, out, scratch):
    text = scratch / "out.onnxtxt"
    to_text = ["surgeon", "sanitize", path, "--no-shape-inference", "-o", text]
    if path.stat().st_size > LARGEST_TEXT:
        to_text += ["--save-external-data", "text.bin"]
    yield Run("text form and back", [to_text, ["surgeon", "sanitize", text, "--no-shape-inference", "-o", out]], out, BITS)


def conversion_runs(path, out, model, newest):
    own = next((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), None)
    for target in sorted({7, 9, 11, 13, 17, 21, newest}):
        if own is not None and target != own:
            yield Run(f"convert-opset from {own} to {target}", [["surgeon", "convert-opset", path, "--to", str(target), "-o", out]],
                      out, CLOSE, may_refuse="cannot be said in opset" if target < own else "")


def plugin_runs(path, out, scratch, graph):
    """A plugin that puts an operator in its own place: the graph stays the same, with nodes of other names."""
    plain = next((n.op_type for n in graph.node if len(n.input) == len(n.output) == 1 and not n.attribute and not n.domain), None)
    if plain is None:
        return
    folder = scratch / "plugins" / "same"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pattern.yaml").write_text(f"op: {plain}\ninputs: [a]\nnodes:\n- {{op: {plain}, inputs: [a], outputs: [b]}}\noutputs: [b]\n")
    config = scratch / "plugins.yaml"
    match = ["plugin", "match", path, "--plugin-dir", folder.parent, "-o", config]
    replace = ["plugin", "replace", path, "--plugin-dir", folder.parent, "--config", config, "-o", out]
    yield Run(f"plugin replace of {plain}", [match, replace], out, BITS)


def runs_for(path, scratch, model, shapes, place, newest, inputs=None):
    """All runs for a model whose inputs are fed with these shapes; `inputs`: a file with what they are fed, where not every number
    will do."""
    out, graph = scratch / "out.onnx", model.graph
    fed = ["--load-inputs", inputs] if inputs else []
    yield from sanitize_runs(path.stem, path, out, graph, shapes, place, inputs)
    yield from edit_runs(path, out, next(iter(shapes)), place, fed)
    yield from weight_runs(path, out, scratch)
    yield from external_data_runs(path, out, scratch, fed)
    yield from text_runs(path, out, scratch)
    yield from conversion_runs(path, out, model, newest)
    yield from plugin_runs(path, out, scratch, graph)
