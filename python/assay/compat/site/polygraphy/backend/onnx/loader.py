"""ONNX models: from files and back, and edits on the way."""

import copy
import os
import tempfile

from polygraphy import constants, mod, util
from polygraphy.backend.base import BaseLoader
from polygraphy.backend.onnx import util as onnx_util
from polygraphy.datatype import DataType
from polygraphy.logger import G_LOGGER, LogMode

np = mod.lazy_import("numpy")
onnx = mod.lazy_import("onnx>=1.8.1")
gs = mod.lazy_import("onnx_graphsurgeon>=0.3.27")
tf2onnx = mod.lazy_import("tf2onnx")

PROTOBUF_THRESHOLD = 2e9
"""Larger models are no single message."""


def _native(model, edit):
    """A ModelProto after an edit by assay's library, as a ModelProto."""
    import assay

    result = onnx.ModelProto()
    result.ParseFromString(edit(assay.Model(model)).to_bytes())
    return result


class BaseLoadOnnxCopy(BaseLoader):
    """An edit of a model, in place or, with `copy`, of a copy."""

    def __init__(self, model, copy=None):
        self._model, self.copy = model, util.default(copy, False)

    def load(self):
        model, _ = util.invoke_if_callable(self._model)
        return copy.deepcopy(model) if self.copy else model


@mod.export(funcify=True)
class GsFromOnnx(BaseLoader):
    """A model as a graph of ONNX-GraphSurgeon."""

    def __init__(self, model):
        self._model = model

    @util.check_called_by("__call__")
    def call_impl(self):
        return gs.import_onnx(util.invoke_if_callable(self._model)[0])


@mod.export(funcify=True)
class OnnxFromPath(BaseLoader):
    """A model out of a file, with its external data, which may be in another folder, or without."""

    def __init__(self, path, external_data_dir=None, ignore_external_data=None):
        self.path, self.external_data_dir = path, external_data_dir
        self.ignore_external_data = util.default(ignore_external_data, False)

    @util.check_called_by("__call__")
    def call_impl(self):
        G_LOGGER.info(f"Loading model: {self.path}")
        beside = self.external_data_dir is None and not self.ignore_external_data
        try:
            model = onnx.load(self.path, load_external_data=beside)
        except FileNotFoundError:
            if beside and os.path.exists(self.path):
                G_LOGGER.warning("A file of external data is not there. external_data_dir says where they are, and ignore_external_data=True loads the model without.")
            raise
        if self.external_data_dir is not None:
            G_LOGGER.verbose(f"Loading external data from: {self.external_data_dir}")
            onnx.external_data_helper.load_external_data_for_model(model, self.external_data_dir)
        return model


@mod.export(funcify=True)
class OnnxFromBytes(BaseLoader):
    """A model out of bytes."""

    def __init__(self, serialized_onnx):
        self._serialized_onnx = serialized_onnx

    @util.check_called_by("__call__")
    def call_impl(self):
        model = onnx.ModelProto()
        model.ParseFromString(util.invoke_if_callable(self._serialized_onnx)[0])
        return model


@mod.export(funcify=True)
class BytesFromOnnx(BaseLoader):
    """A model as bytes."""

    def __init__(self, model):
        self._model = model

    @util.check_called_by("__call__")
    def call_impl(self):
        return util.invoke_if_callable(self._model)[0].SerializeToString()


@mod.export(funcify=True)
class OnnxFromTfGraph(BaseLoader):
    """A graph of TensorFlow, (graph, names of outputs), converted by tf2onnx."""

    def __init__(self, graph, opset=None, optimize=None):
        self._graph, self.opset, self.optimize = graph, util.default(opset, 11), util.default(optimize, True)

    @util.check_called_by("__call__")
    def call_impl(self):
        graph, outputs = util.invoke_if_callable(self._graph)[0]
        definition = graph.as_graph_def()
        consumed = {name.split(":")[0].lstrip("^") for node in definition.node for name in node.input}
        inputs = [f"{node.name}:0" for node in definition.node if node.op == "Placeholder" and node.name in consumed]
        if self.optimize:
            definition = tf2onnx.tf_loader.tf_optimize(inputs, outputs, definition)
        model, _ = tf2onnx.convert.from_graph_def(definition, input_names=inputs, output_names=outputs, opset=self.opset)
        return model


@mod.export(funcify=True)
class ModifyOutputs(BaseLoadOnnxCopy):
    """Other outputs: names or patterns, constants.MARK_ALL, or all of some operators; without those in `exclude_outputs`."""

    def __init__(self, model, outputs=None, exclude_outputs=None, copy=None, mark_types=None):
        super().__init__(model, copy)
        self.outputs, self.exclude_outputs, self.mark_types = outputs, exclude_outputs, mark_types

    @util.check_called_by("__call__")
    def call_impl(self):
        marks_all = self.outputs == constants.MARK_ALL
        if marks_all:
            G_LOGGER.verbose("Marking all ONNX tensors as outputs")
        steps = [
            (onnx_util.mark_outputs, None if marks_all else self.outputs),
            (onnx_util.mark_by_op_type, self.mark_types),
            (onnx_util.unmark_outputs, self.exclude_outputs),
        ]
        changed = onnx_util.mark_layerwise(self.load()) if marks_all else self.load()
        for step, what in steps:
            changed = changed if what is None else step(changed, what)
        return changed


@mod.export(funcify=True)
class ConvertToFp16(BaseLoadOnnxCopy):
    """float16 in place of float32; inputs and outputs stay what they are."""

    def __init__(self, model, copy=None):
        super().__init__(model, copy)

    @util.check_called_by("__call__")
    def call_impl(self):
        G_LOGGER.info("Converting float tensors to float16")
        return _native(self.load(), lambda model: model.to_float16())


@mod.export(funcify=True)
class FoldConstants(BaseLoadOnnxCopy):
    """Constants in place of what is computed of constants alone, until nothing is left to fold."""

    def __init__(self, model, num_passes=None, do_shape_inference=None, partitioning=None, fold_shapes=None, copy=None, error_ok=None,
                 size_threshold=None, allow_onnxruntime_shape_inference=None):
        """`num_passes`: how often at most; `do_shape_inference`: between passes; `partitioning`: "basic" or "recursive": parts are folded
        where the whole cannot be; `fold_shapes`: shapes that are known, too; `error_ok`: a pass that fails is a warning;
        `size_threshold`: bytes that a tensor may have. `allow_onnxruntime_shape_inference` changes nothing here."""
        super().__init__(model, copy)
        self.num_passes, self.partitioning, self.size_threshold = num_passes, partitioning, size_threshold
        self.do_shape_inference = util.default(do_shape_inference, True)
        self.fold_shapes, self.error_ok = util.default(fold_shapes, True), util.default(error_ok, True)
        self.allow_onnxruntime_shape_inference = allow_onnxruntime_shape_inference

    def _fold_once(self, model):
        graph = gs.import_onnx(model)
        graph.fold_constants(fold_shapes=self.fold_shapes, partitioning=self.partitioning, size_threshold=self.size_threshold)
        model = gs.export_onnx(graph.cleanup(), do_type_check=False)
        if self.fold_shapes and self.do_shape_inference:
            model = InferShapes(model, allow_onnxruntime=self.allow_onnxruntime_shape_inference)()
        return model

    @util.check_called_by("__call__")
    def call_impl(self):
        model = self.load()
        done = 0
        while self.num_passes is None or done < self.num_passes:
            before = onnx_util.get_num_nodes(model)
            G_LOGGER.start(f"Folding Constants | Pass {done + 1}")
            try:
                model = self._fold_once(model)
            except Exception as error:
                if not self.error_ok:
                    raise
                G_LOGGER.warning(f"Constant folding pass failed. Skipping subsequent passes.\nNote: Error was:\n{error}")
                break
            after, done = onnx_util.get_num_nodes(model), done + 1
            G_LOGGER.finish(f"    Total Nodes | Original: {before:5}, After Folding: {after:5} | {before - after:5} Nodes Folded")
            if after == before:
                break
        return model


@mod.export(funcify=True)
class SetUpperBound(BaseLoadOnnxCopy):
    """A Min with a bound behind variables that extents depend on. `upper_bounds`: one for all, or by name with "" for the others."""

    def __init__(self, model, upper_bounds, copy=None):
        super().__init__(model, copy)
        self.upper_bounds = upper_bounds

    @staticmethod
    def _bound(graph, tensor, bound):
        before = gs.Variable(f"{tensor.name}_copy", dtype=tensor.dtype, shape=tensor.shape)
        producer, = tensor.inputs
        producer.outputs[[t is tensor for t in producer.outputs].index(True)] = before
        values = np.array([bound] * len(tensor.shape) if tensor.shape else bound)
        tensor.inputs.clear()
        graph.nodes.append(gs.Node("Min", inputs=[before, gs.Constant(f"{tensor.name}_upper_bound", values)], outputs=[tensor]))

    @util.check_called_by("__call__")
    def call_impl(self):
        graph = gs.import_onnx(self.load())
        tensors, unbounded = graph.tensors(), onnx_util.get_unbounded_dds_tensors(graph)
        names = {t.name for t in unbounded}
        if isinstance(self.upper_bounds, dict):
            asked = set(self.upper_bounds) - {""}
            for there, say in ((set(tensors), None), (names, G_LOGGER.warning)):
                util.check_sequence_contains(there, asked, name="the upper bounds dictionary", items_name="tensors", log_func=say, check_extra=False)
            names |= asked
        applied = {}
        for name in sorted(names):
            bound = util.value_or_from_dict(self.upper_bounds, name)
            if bound is not None:
                self._bound(graph, tensors[name], bound)
                applied[name] = bound
        G_LOGGER.info(f"Set tensor upper bounds: {applied}")
        return gs.export_onnx(graph.cleanup(), do_type_check=False)


@mod.export(funcify=True)
class InferShapes(BaseLoader):
    """A model, or one at a path, with the shapes of what lies between."""

    def __init__(self, model, error_ok=None, external_data_dir=None, save_to_disk_threshold_bytes=None, allow_onnxruntime=None):
        """`error_ok`: an error is a warning, and the model stays as it is; `save_to_disk_threshold_bytes`: from this size on ONNX's own
        inference works on files. `allow_onnxruntime` changes nothing here: assay infers, and onnx where it cannot."""
        self._model, self.error_ok = model, util.default(error_ok, True)
        self.external_data_dir = external_data_dir
        self.save_to_disk_threshold_bytes = util.default(save_to_disk_threshold_bytes, PROTOBUF_THRESHOLD)
        self.allow_onnxruntime = util.default(allow_onnxruntime, True)

    def _by_file(self, model):
        G_LOGGER.warning(f"The model ({model.ByteSize() >> 20} MiB) is written to a temporary file for shape inference.", mode=LogMode.ONCE)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.onnx")
            SaveOnnx(copy.deepcopy(model), path, external_data_path="model.data")()
            onnx.shape_inference.infer_shapes_path(path)
            return onnx.load(path)

    def _infer(self, model):
        if model.ByteSize() >= self.save_to_disk_threshold_bytes:
            return self._by_file(model)
        try:
            return _native(model, lambda m: m.infer_shapes())
        except Exception as error:
            G_LOGGER.verbose(f"assay could not infer shapes, and onnx is asked: {error}")
            return onnx.shape_inference.infer_shapes(model)

    @util.check_called_by("__call__")
    def call_impl(self):
        model, _ = util.invoke_if_callable(self._model)
        if not isinstance(model, onnx.ModelProto):
            model = OnnxFromPath(model, external_data_dir=self.external_data_dir)()
        G_LOGGER.verbose("Starting shape inference")
        try:
            model = self._infer(model)
        except Exception as error:
            if not self.error_ok:
                raise
            G_LOGGER.warning(f"ONNX shape inference exited with an error:\n{error}")
        else:
            G_LOGGER.verbose("Shape inference completed successfully")
        return model


@mod.export(funcify=True)
class ExtractSubgraph(BaseLoader):
    """The part of a model, or of a graph of ONNX-GraphSurgeon, between inputs and outputs, each a TensorMetadata; without one of them the
    model's own. Types and shapes that they have replace the model's; `check_meta`: those that nobody knows are warned about."""

    def __init__(self, model, input_metadata=None, output_metadata=None, check_meta=None):
        self._model, self.input_metadata, self.output_metadata = model, input_metadata, output_metadata
        self.check_meta = util.default(check_meta, True)

    def _ends(self, tensors, metadata, what, needs_shape):
        for name, (dtype, shape) in metadata.items():
            if name not in tensors:
                G_LOGGER.critical(f"Tensor: {name} does not exist in the model.")
            tensor = tensors[name]
            if isinstance(tensor, gs.Variable):
                tensor.shape = shape or tensor.shape
                tensor.dtype = tensor.dtype if dtype is None else DataType.to_dtype(DataType.from_dtype(dtype), "onnx")
            for thing, value, asked in (("shape", tensor.shape, needs_shape), ("data type", tensor.dtype, True)):
                if self.check_meta and asked and value is None:
                    G_LOGGER.warning(f"{what} metadata should include {thing}, but no {thing} was provided for tensor: {name}")
            yield tensor

    @staticmethod
    def _report_open_ends(graph):
        ends = set(map(id, graph.inputs))
        for tensor in graph.tensors().values():
            if isinstance(tensor, gs.Variable) and not tensor.inputs and id(tensor) not in ends:
                readers = [f"Node: '{node.name}' (Op: {node.op})" for node in tensor.outputs]
                G_LOGGER.error(f"Tensor: '{tensor.name}' is read by: {readers}, and is neither produced nor an input: the resulting model is not valid. Is an input "
                               "missing?")

    @util.check_called_by("__call__")
    def call_impl(self):
        model, _ = util.invoke_if_callable(self._model)
        was_graph = isinstance(model, gs.Graph)
        graph = model.copy() if was_graph else gs.import_onnx(model)
        tensors = graph.tensors()
        if self.input_metadata is not None:
            graph.inputs = list(self._ends(tensors, self.input_metadata, "Input", True))
            for tensor in graph.inputs:
                tensor.inputs.clear()
        if self.output_metadata is not None:
            graph.outputs = list(self._ends(tensors, self.output_metadata, "Output", False))
        graph.cleanup()
        self._report_open_ends(graph)
        return graph if was_graph else gs.export_onnx(graph, do_type_check=False)


@mod.export(funcify=True)
class SaveOnnx(BaseLoader):
    """Writes a model, and gives it."""

    def __init__(self, model, path, external_data_path=None, size_threshold=None, all_tensors_to_one_file=None):
        """`external_data_path`: the file for weights, beside the model; "": one that is named by itself. `size_threshold`: bytes
        from which a weight goes there (1024); `all_tensors_to_one_file`: or each into one of its own."""
        self._model, self.path, self.external_data_path = model, path, external_data_path
        self.size_threshold, self.all_tensors_to_one_file = size_threshold, all_tensors_to_one_file

    @util.check_called_by("__call__")
    def call_impl(self):
        model, _ = util.invoke_if_callable(self._model)
        G_LOGGER.info(f"Saving ONNX model to: {self.path}")
        external = self.external_data_path
        if external is None and model.ByteSize() >= PROTOBUF_THRESHOLD:
            G_LOGGER.warning(f"The model ({model.ByteSize() >> 20} MiB) is too large for one file. Its weights go to another one, whose name `external_data_path` says.")
            external = ""
        if external is None:
            for name in ("size_threshold", "all_tensors_to_one_file"):
                if getattr(self, name) is not None:
                    G_LOGGER.warning(f"{name} is set, but external data path has not been set. No external data will be written.")
        else:
            G_LOGGER.verbose(f"Saving external data for ONNX model to: {external}")
            beside = os.path.join(os.path.dirname(self.path), external)
            if external and os.path.isfile(beside):
                os.remove(beside)  # onnx would write behind what is in it
            onnx.external_data_helper.convert_model_to_external_data(
                model, location=external, all_tensors_to_one_file=util.default(self.all_tensors_to_one_file, True),
                size_threshold=util.default(self.size_threshold, 1024))
        util.makedirs(self.path)
        onnx.save(model, self.path)
        return model
