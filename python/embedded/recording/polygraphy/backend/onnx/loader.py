"""ONNX models as bytes, and what changes them."""

import os

from polygraphy import constants, mod
from polygraphy.backend.base import BaseLoader, value_or_call
from polygraphy.exception import PolygraphyException
from polygraphy.logger import G_LOGGER
from recorded.builder import Builder
from recorded.exporting import to_onnx
from recorded.parsed import load
from recorded.program import changed_model


class OnnxModel:
    """An ONNX model; `external_data_dir` is the folder of its external data."""

    def __init__(self, data, external_data_dir=None):
        self._data, self.external_data_dir = bytes(data), external_data_dir

    def SerializeToString(self):
        return self._data


def _model_of(item):
    """An OnnxModel from what a loader gives; models of the package onnx and bytes are taken, too."""
    model = value_or_call(item)[0]
    if isinstance(model, OnnxModel):
        return model
    return OnnxModel(model.SerializeToString() if hasattr(model, "SerializeToString") else model)


def _network_of(model):
    network = Builder().create_network()
    load(network, model.SerializeToString(), model.external_data_dir)
    return network


@mod.export(funcify=True)
class OnnxFromPath(BaseLoader):
    """The model of a file."""

    def __init__(self, path, external_data_dir=None, ignore_external_data=None):
        self._path, self._folder = path, external_data_dir

    def call_impl(self):
        path = value_or_call(self._path)[0]
        with open(path, "rb") as file:
            data = file.read()
        return OnnxModel(data, os.path.abspath(self._folder or os.path.dirname(os.path.abspath(path))))


@mod.export(funcify=True)
class OnnxFromBytes(BaseLoader):
    """The model of bytes."""

    def __init__(self, serialized_onnx):
        self._data = serialized_onnx

    def call_impl(self):
        return OnnxModel(value_or_call(self._data)[0])


@mod.export(funcify=True)
class BytesFromOnnx(BaseLoader):
    """The bytes of a model."""

    def __init__(self, model):
        self._model = model

    def call_impl(self):
        return ModelBytes(_model_of(self._model))


class ModelBytes(bytes):
    """The bytes of a model that remember where its external data lie."""

    def __new__(cls, model):
        made = bytes.__new__(cls, model.SerializeToString())
        made.external_data_dir = model.external_data_dir
        return made


@mod.export(funcify=True)
class SaveOnnx(BaseLoader):
    """Writes a model to a file, and gives it."""

    def __init__(self, model, path, external_data_path=None, size_threshold=None, all_tensors_to_one_file=None):
        self._model, self._path, self._external = model, path, external_data_path

    def call_impl(self):
        if self._external is not None:
            raise PolygraphyException("SaveOnnx: external_data_path is not served; `assay convert` writes external data.")
        model = _model_of(self._model)
        G_LOGGER.info(f"Saving ONNX model to: {self._path}")
        with open(self._path, "wb") as file:
            file.write(model.SerializeToString())
        return model


@mod.export(funcify=True)
class InferShapes(BaseLoader):
    """A model with the types and shapes that follow from its nodes, as far as the parser infers them."""

    def __init__(self, model, error_ok=None, external_data_dir=None, save_to_disk_threshold_bytes=None, allow_onnxruntime=None):
        self._model, self._folder = model, external_data_dir

    def call_impl(self):
        model = self._model
        if isinstance(model, (str, os.PathLike)):
            model = OnnxFromPath(model, self._folder)
        model = _model_of(model)
        return OnnxModel(to_onnx(_network_of(model))[0], model.external_data_dir)


@mod.export(funcify=True)
class ModifyOutputs(BaseLoader):
    """A model with other outputs: names, patterns, or constants.MARK_ALL."""

    def __init__(self, model, outputs=None, exclude_outputs=None, copy=None, mark_types=None):
        self._model, self._outputs, self._exclude, self._types = model, outputs, exclude_outputs, mark_types

    def call_impl(self):
        from polygraphy.backend.trt.loader import ModifyNetworkOutputs
        model = _model_of(self._model)
        network = _network_of(model)
        outputs = self._outputs
        if self._types:
            kinds = {t.lower() for t in self._types}
            outputs = [t.name for layer in network._layers if layer._node.op_type.lower() in kinds for t in layer._outputs]
        if outputs == constants.MARK_ALL:
            outputs = [t.name for layer in network._layers if layer._node.op_type != "Constant" for t in layer._outputs]
        ModifyNetworkOutputs(None, outputs, self._exclude).change(network)
        return OnnxModel(to_onnx(network)[0], model.external_data_dir)


@mod.export(funcify=True)
class ConvertToFp16(BaseLoader):
    """A model that computes in float16 between its inputs and outputs, which stay as they are: what `assay convert
    --fp-to-fp16` makes."""

    def __init__(self, model, copy=None):
        self._model = model

    def call_impl(self):
        model = _model_of(self._model)
        return OnnxModel(changed_model(["convert", "--fp-to-fp16"], model.SerializeToString(), model.external_data_dir))
