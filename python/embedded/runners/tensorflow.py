"""Runs TensorFlow models: frozen graphs (.pb, .graphdef), SavedModels, Keras models (.keras, .h5, .hdf5), and checkpoints of
graphs (FILE.meta beside FILE.index).

Options
    model_type  frozen, saved, keras or ckpt; the default is what the file looks like
    outputs     names of tensors, with commas between them, or * for all that can be computed; the default is what nothing
                in a graph uses, and what a SavedModel or Keras model declares
    ckpt        the checkpoint in a folder, when it is not the newest one
    signature   of a SavedModel; the default is serving_default, or the only one
    save_pb     file to which the model is written as a frozen graph
    op_library  shared library with further operators
    threads     number of threads; 0: as TensorFlow chooses
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")  # warnings and errors

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import graph_pb2
from tensorflow.python.framework import op_def_registry

v1 = tf.compat.v1


class TensorFlowRunner:
    def __init__(self, model_path, model_type="", outputs="", ckpt="", signature="", save_pb="", op_library="", threads="0"):
        if int(threads):
            tf.config.threading.set_intra_op_parallelism_threads(int(threads))
        if op_library:
            tf.load_op_library(op_library)
        kind = model_type or _kind(model_path)
        if kind not in KINDS:
            raise ValueError(f"model_type is {kind!r}; it is one of {', '.join(KINDS)}")
        names = [n.strip() for n in outputs.split(",")] if outputs else []
        self._model = KINDS[kind](model_path, names, ckpt=ckpt, signature=signature)
        if save_pb:
            with open(save_pb, "wb") as file:
                file.write(self._model.frozen().SerializeToString())

    def inputs(self):
        return self._model.inputs

    def outputs(self):
        return self._model.outputs

    def infer(self, feed_dict):
        return self._model(feed_dict)


class _Graph:
    """A graph in a session of the first API, which has control flow and string tensors as well."""

    def __init__(self, names):
        self._wanted = names

    def _open(self, graph, session):
        self._graph, self._session = graph, session
        placeholders = [op.outputs[0] for op in graph.get_operations() if op.type in ("Placeholder", "PlaceholderWithDefault")]
        if self._wanted in (["*"], ["mark all"]):
            tensors = [t for op in graph.get_operations() if _can_be_fetched(op) for t in op.outputs if _is_value(t)]
        elif self._wanted:
            tensors = [self._find(name) for name in self._wanted]
        else:
            tensors = [t for op in graph.get_operations() if _can_be_fetched(op) and _is_last(op) for t in op.outputs
                       if _is_value(t)]
        if not tensors:
            raise ValueError("the graph has no outputs: every tensor is used; name some with the option outputs")
        self._fetches = {t.name: t for t in tensors}
        needed = _reached_from(tensors)
        self._feeds = {t.name: t for t in placeholders if t.op.type == "Placeholder" and t.op.name in needed}
        self.inputs = {name: _type(t) for name, t in self._feeds.items()}
        self.outputs = {name: _type(t) for name, t in self._fetches.items()}

    def __call__(self, feed):
        try:
            return self._session.run(self._fetches, {self._feeds[name]: value for name, value in feed.items()})
        except tf.errors.InvalidArgumentError as e:
            if "Retval" not in e.message or "does not have value" not in e.message:
                raise
            raise ValueError("an output lies in a branch that was not taken, so it has no value; name others with the option "
                             f"outputs (TensorFlow: {e.message})") from None

    def _find(self, name):
        try:
            return self._graph.get_tensor_by_name(name if ":" in name else name + ":0")
        except (KeyError, ValueError):
            last = [t.name for op in self._graph.get_operations() if _is_last(op) for t in op.outputs]
            raise ValueError(f"the graph has no tensor {name!r}; nothing uses {', '.join(last[:8])}") from None

    def frozen(self):
        names = [t.op.name for t in self._fetches.values()]
        return v1.graph_util.convert_variables_to_constants(self._session, self._graph.as_graph_def(), names)


class Frozen(_Graph):
    def __init__(self, path, names, **_):
        super().__init__(names)
        definition = graph_pb2.GraphDef()
        with open(path, "rb") as file:
            try:
                definition.ParseFromString(file.read())
            except Exception as e:  # of protobuf
                raise ValueError(f"{path} is no frozen graph: {e}") from None
        if not definition.node:
            raise ValueError(f"{path} is a graph without nodes")
        _check_operators(definition)
        graph = tf.Graph()
        with graph.as_default():
            tf.import_graph_def(definition, name="")
            variables = [op.name for op in graph.get_operations() if op.type in ("VarHandleOp", "VariableV2", "Variable")]
            if variables:
                raise ValueError(f"{path} is not frozen: it has variables without values ({', '.join(variables[:3])})")
            self._open(graph, v1.Session(graph=graph))


class Checkpoint(_Graph):
    def __init__(self, path, names, ckpt="", **_):
        super().__init__(names)
        prefix = _checkpoint_prefix(path, ckpt)
        if not os.path.exists(prefix + ".meta"):
            raise ValueError(f"the checkpoint {prefix} holds values without a graph ({prefix}.meta is missing), so nothing can be "
                             "run: use the SavedModel or Keras model that it belongs to")
        graph = tf.Graph()
        with graph.as_default():
            meta = v1.MetaGraphDef()
            with open(prefix + ".meta", "rb") as file:
                meta.ParseFromString(file.read())
            _check_operators(meta.graph_def)
            saver = v1.train.import_meta_graph(meta, clear_devices=True)
            session = v1.Session(graph=graph)
            saver.restore(session, prefix)
            self._open(graph, session)

    def _open(self, graph, session):
        if not self._wanted:
            # What saves and restores, initializes and counts is not what the graph is for.
            self._wanted = [t.name for op in graph.get_operations()
                            if _can_be_fetched(op) and _is_last(op) and not op.name.startswith("save/")
                            for t in op.outputs if _is_value(t) and _depends_on_input(t)]
        super()._open(graph, session)


class _Function:
    """A function of the second API; `names`: of the outputs that are wanted."""

    def _open(self, function, inputs, outputs, wanted):
        self._function = function
        for name in wanted:
            if name not in outputs:
                raise ValueError(f"the model has no output {name!r}; it has {', '.join(outputs)}")
        self._names = wanted or list(outputs)
        self.inputs = {name: _type(spec) for name, spec in inputs.items()}
        self.outputs = {name: _type(outputs[name]) for name in self._names}

    def frozen(self):
        from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

        return convert_variables_to_constants_v2(self._concrete()).graph.as_graph_def()


class SavedModel(_Function):
    def __init__(self, path, names, signature="", **_):
        try:
            self._loaded = tf.saved_model.load(path)
        except tf.errors.NotFoundError as e:
            raise ValueError(f"this TensorFlow ({tf.__version__}) cannot read the model: {e.message}") from None
        found = self._loaded.signatures
        key = signature or ("serving_default" if "serving_default" in found else list(found)[0] if len(found) == 1 else "")
        if key not in found:
            raise ValueError((f"the SavedModel has no signature {key!r}" if key else "the SavedModel has no default signature") +
                             f"; it has {', '.join(map(repr, found)) or 'none'}")
        function = found[key]
        # The file has them in no order.
        self._open(function, dict(sorted(function.structured_input_signature[1].items())),
                   dict(sorted(function.structured_outputs.items())), names)

    def __call__(self, feed):
        made = self._function(**{n: tf.constant(x, dtype=self._function.structured_input_signature[1][n].dtype)
                                 for n, x in feed.items()})
        return {n: made[n].numpy() for n in self._names}

    def _concrete(self):
        return self._function


class Keras(_Function):
    def __init__(self, path, names, **_):
        import keras

        try:
            self._keras = keras.models.load_model(path, compile=False)
        except Exception as e:
            raise ValueError(f"Keras {keras.__version__} cannot read {path}: {' '.join(str(e).split())}" +
                             ("; models of Keras 2 need TF_USE_LEGACY_KERAS=1 and the package tf_keras"
                              if path.endswith((".h5", ".hdf5")) else "")) from e
        inputs = {_keras_name(t, i, "input"): t for i, t in enumerate(self._keras.inputs)}
        outputs = dict(zip(self._output_names(), self._keras.outputs))
        self._order = list(inputs)
        call = tf.function(lambda *args: self._keras(list(args) if len(args) > 1 else args[0], training=False),
                           reduce_retracing=True, autograph=False)
        self._all = list(outputs)
        self._open(call, inputs, outputs, names)

    def _output_names(self):
        names = list(getattr(self._keras, "output_names", []))
        if len(names) != len(self._keras.outputs) or len(set(names)) != len(names):
            return [f"output_{i}" for i in range(len(self._keras.outputs))]
        return names

    def __call__(self, feed):
        made = self._function(*[tf.constant(feed[n]) for n in self._order])
        flat = tf.nest.flatten(made)
        return {n: x.numpy() for n, x in zip(self._all, flat) if n in self._names}

    def _concrete(self):
        return self._function.get_concrete_function(*[tf.TensorSpec(t.shape, t.dtype, name=n)
                                                      for n, t in zip(self._order, self._keras.inputs)])


KINDS = {"frozen": Frozen, "saved": SavedModel, "keras": Keras, "ckpt": Checkpoint}


def _kind(path):
    if os.path.isdir(path):
        return "saved" if os.path.exists(os.path.join(path, "saved_model.pb")) or \
            os.path.exists(os.path.join(path, "saved_model.pbtxt")) else "ckpt"
    if path.endswith((".keras", ".h5", ".hdf5")):
        return "keras"
    if path.endswith((".meta", ".index", ".ckpt")) or os.path.exists(path + ".index"):
        return "ckpt"
    return "frozen"


def _checkpoint_prefix(path, name):
    if not os.path.isdir(path):
        return path[:path.rindex(".")] if path.endswith((".meta", ".index")) else path
    if name:
        return os.path.join(path, name)
    newest = tf.train.latest_checkpoint(path)
    if newest is None:
        found = sorted(f[:-len(".index")] for f in os.listdir(path) if f.endswith(".index"))
        if len(found) != 1:
            raise ValueError(f"{path} has no file that says which checkpoint is the newest; name one with the option ckpt"
                             f" ({', '.join(found) or 'there is none'})")
        newest = os.path.join(path, found[0])
    return newest


def _check_operators(definition):
    own = {f.signature.name for f in definition.library.function}
    nodes = list(definition.node) + [n for f in definition.library.function for n in f.node_def]
    unknown = {n.op: n.name for n in nodes if n.op not in own and op_def_registry.get(n.op) is None}
    if unknown:
        listed = ", ".join(f"{op} (node {name!r})" for op, name in list(unknown.items())[:5])
        raise ValueError(f"the graph uses operators that TensorFlow {tf.__version__} does not have: {listed}; load the library "
                         "that defines them with the option op_library")


def _can_be_fetched(op):
    """Of loops, only what leaves them has one value; an operator that changes a variable is none of ours."""
    if op.type in ("Enter", "Switch", "Merge", "NextIteration", "LoopCond", "RefEnter", "RefSwitch", "Assign", "AssignSub",
                   "AssignAdd", "NoOp", "Placeholder", "PlaceholderWithDefault", "Const", "VariableV2", "VarHandleOp"):
        return False
    return op.type == "Exit" or op._get_control_flow_context() is None


def _is_last(op):
    return not any(t.consumers() for t in op.outputs)


def _is_value(tensor):
    return tensor.dtype not in (tf.resource, tf.variant) and not tensor.dtype._is_ref_dtype


def _reached_from(tensors):
    """Names of the operators that tensors depend on."""
    seen, left = set(), [t.op for t in tensors]
    while left:
        op = left.pop()
        if op.name not in seen:
            seen.add(op.name)
            left += [t.op for t in op.inputs] + list(op.control_inputs)
    return seen


def _depends_on_input(tensor):
    graph = tensor.graph
    return any(graph.get_operation_by_name(n).type == "Placeholder" for n in _reached_from([tensor]))


def _type(tensor):
    dtype = tf.as_dtype(tensor.dtype)
    shape = tf.TensorShape(tensor.shape)
    return ("string" if dtype == tf.string else dtype.name, None if shape.rank is None else shape.as_list())


def _keras_name(tensor, index, kind):
    return tensor.name.split(":")[0] if getattr(tensor, "name", None) else f"{kind}_{index}"
