"""OnnxParser with what TensorRT 10 added."""

import os

import recorded.parsed
from recorded.errors import NotServedError
from recorded.parsed import ParserError


class OnnxParser(recorded.parsed.OnnxParser):
    """Reads an ONNX model into a network."""

    def __init__(self, network, logger):
        from ._reports import require_logger

        super().__init__(network, require_logger(logger))
        self._held, self._config, self._subgraphs = None, None, []

    def parse(self, model, path=None):
        from ._plugins import adopt_plugins

        if not super().parse(model, path):
            return False
        adopt_plugins(self._network)
        return True

    def set_builder_config(self, config):
        self._config = config
        return True

    # ---- a model in steps

    def load_model_proto(self, model, path=None):
        self._held = (bytes(model), path)
        return True

    def load_initializer(self, name, data, size):
        raise NotServedError("tensorrt.OnnxParser.load_initializer: put the initializer into the model, or beside it as external "
                             "data.")

    def parse_model_proto(self):
        if self._held is None:
            self._fail("parse_model_proto: no model was loaded by load_model_proto().")
            return False
        return self.parse(*self._held)

    # ---- what could be run

    def supports_model(self, model, path=None):
        """(whether the library can build it, [([nodes], whether)])."""
        whole = self.supports_model_v2(model, path)
        return whole, [(list(range(self._nodes)), whole)]

    def supports_model_v2(self, model, path=None):
        import assay
        from recorded.network import INetworkDefinition

        scratch = INetworkDefinition(None, self._network.flags)
        try:
            folder = os.path.dirname(os.path.abspath(path)) if path else None
            recorded.parsed.load(scratch, bytes(model), folder)
            self._nodes = len(scratch._layers)
            assay.Model.from_bytes(bytes(model), external_data=folder)
        except (assay.Error, recorded.parsed.RecordingError) as error:
            self._fail(str(error))
            self._nodes = len(scratch._layers)
            self._subgraphs = [(list(range(self._nodes)), False)]
            return False
        self._subgraphs = [(list(range(self._nodes)), True)]
        return True

    _nodes = 0
    num_subgraphs = property(lambda self: len(self._subgraphs))

    def is_subgraph_supported(self, index):
        return self._subgraphs[index][1]

    def get_subgraph_nodes(self, index):
        return self._subgraphs[index][0]


__all__ = ["OnnxParser", "ParserError"]
