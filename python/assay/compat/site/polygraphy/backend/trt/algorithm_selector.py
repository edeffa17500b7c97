"""Tactics that a build chose, kept and chosen again."""

from collections import OrderedDict

from polygraphy import func, mod, util
from polygraphy.backend.trt import util as trt_util
from polygraphy.common.interface import TypedDict
from polygraphy.json import Decoder, Encoder, add_json_methods
from polygraphy.logger import G_LOGGER, LogMode
from polygraphy.mod.trt_importer import lazy_import_trt

trt = lazy_import_trt()

__all__ = ["Algorithm", "TacticRecorder", "TacticReplayData", "TacticReplayer", "TensorInfo"]


def _check_type(value, kind, name):
    if not isinstance(value, kind):
        G_LOGGER.critical(f"'{name}' must be an instance of {kind.__name__}, but is: {value}.")


class TensorInfo:
    """How a tensor lies at a layer: its type, strides, which dimension is vectorized, and by how many."""

    @staticmethod
    def from_trt(io_info):
        """Of TensorRT's IAlgorithmIOInfo."""
        return TensorInfo(io_info.dtype, tuple(io_info.strides), io_info.vectorized_dim, io_info.components_per_element)

    def __init__(self, dtype, strides, vectorized_dim, components_per_element):
        _check_type(dtype, trt.DataType, "dtype")
        _check_type(strides, tuple, "strides")
        self.dtype, self.strides = dtype, strides
        self.vectorized_dim, self.components_per_element = vectorized_dim, components_per_element

    def _key(self):
        return self.dtype, self.strides, self.vectorized_dim, self.components_per_element

    def __eq__(self, other):
        return isinstance(other, TensorInfo) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __repr__(self):
        return f"TensorInfo({', '.join(map(str, self._key()))})"


@Encoder.register(TensorInfo)
def _encode_info(info):
    return {"dtype": str(info.dtype), "strides": info.strides, "vectorized_dim": info.vectorized_dim,
            "components_per_element": info.components_per_element}


@Decoder.register(TensorInfo)
def _decode_info(dct):
    return TensorInfo(util.getattr_nested(trt, dct["dtype"]), tuple(dct["strides"]), dct["vectorized_dim"], dct["components_per_element"])


class Algorithm:
    """A tactic of a layer, with how its inputs and outputs lie."""

    @staticmethod
    def from_trt(context, algorithm):
        """Of TensorRT's IAlgorithmContext and IAlgorithm."""
        variant, first_output = algorithm.algorithm_variant, context.num_inputs
        infos = [TensorInfo.from_trt(algorithm.get_algorithm_io_info(i)) for i in range(first_output + context.num_outputs)]
        return Algorithm(variant.implementation, variant.tactic, infos[:first_output], infos[first_output:])

    def __init__(self, implementation, tactic, inputs, outputs):
        for name, infos in (("inputs", inputs), ("outputs", outputs)):
            for index, info in enumerate(infos):
                _check_type(info, TensorInfo, f"{name}[{index}]")
        self.implementation, self.tactic = implementation, tactic
        self.inputs, self.outputs = tuple(inputs), tuple(outputs)

    def _key(self):
        return self.implementation, self.tactic, self.inputs, self.outputs

    def __eq__(self, other):
        return isinstance(other, Algorithm) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __str__(self):
        return f"(Implementation: {self.implementation}, Tactic: {self.tactic}) | Inputs: {self.inputs} | Outputs: {self.outputs}"


@Encoder.register(Algorithm)
def _encode_algorithm(algorithm):
    return {"implementation": algorithm.implementation, "tactic": algorithm.tactic, "inputs": algorithm.inputs, "outputs": algorithm.outputs}


@Decoder.register(Algorithm)
def _decode_algorithm(dct):
    return Algorithm(dct["implementation"], dct["tactic"], dct["inputs"], dct["outputs"])


@add_json_methods("tactic replay file")
class TacticReplayData(TypedDict(lambda: str, lambda: Algorithm)):
    """Algorithms by the names of layers."""

    def add(self, name, algorithm):
        """Adds a layer; gives the data, for more of them."""
        self[name] = algorithm
        return self

    def __str__(self):
        return "\n".join(f"Layer: {name}\n    Algorithm: {algorithm}" for name, algorithm in self.items())


@Encoder.register(TacticReplayData)
def _encode_replay(replay):
    return {"replay": replay.dct}


@Decoder.register(TacticReplayData)
def _decode_replay(dct):
    return TacticReplayData(OrderedDict(dct["replay"]))


def _selector_class():
    with trt_util.needs("Algorithm selectors (TacticRecorder/TacticReplayer)"):
        base = trt.IAlgorithmSelector

    class Selector(base):
        def __init__(self, data):
            base.__init__(self)
            self.data, self.path = (data, None) if isinstance(data, TacticReplayData) else (TacticReplayData(), data)

        def select_algorithms(self, context, choices):
            return list(range(len(choices)))

    return Selector


@mod.deprecate(remove_in="0.55.0", use_instead=None)
def TacticRecorder(record):
    """A selector that leaves the choice to TensorRT and keeps what it was, in a TacticReplayData or at a path."""
    base = _selector_class()

    class TacticRecorderClass(base):
        def __init__(self):
            super().__init__(record)
            self.make_func = TacticRecorder

        @G_LOGGER.log_exception
        def report_algorithms(self, contexts, choices):
            taken = {c.name: Algorithm.from_trt(c, choice) for c, choice in zip(contexts, choices)}
            for layer, algorithm in taken.items():
                self.data.add(layer, algorithm)
            if self.path:
                self.data.save(self.path)

    return TacticRecorderClass()


@mod.deprecate(remove_in="0.55.0", use_instead=None)
def TacticReplayer(replay):
    """A selector that chooses what a TacticReplayData, or one at a path, says. Other layers are left to TensorRT."""
    base = _selector_class()

    class TacticReplayerClass(base):
        def __init__(self):
            super().__init__(replay)
            self.make_func = TacticReplayer
            if self.path is not None:
                self.data = TacticReplayData.load(self.path)

        @G_LOGGER.log_exception
        @func.constantmethod
        def select_algorithms(self, context, choices):
            anything = super().select_algorithms(context, choices)
            if not len(self.data):
                return anything
            if context.name not in self.data:
                G_LOGGER.warning(f"Layer: {context.name} was not found in the tactic replay. Falling back to default tactics.")
                G_LOGGER.warning(f"The network is another one than that of the replay, whose layers are: {list(self.data.keys())}", mode=LogMode.ONCE)
                return anything
            wanted, offered = self.data[context.name], [Algorithm.from_trt(context, choice) for choice in choices]
            if wanted not in offered:
                others = "\n    ".join(map(str, offered))
                G_LOGGER.critical(f"Layer: {context.name} | Tactic in replay was not provided by TensorRT as a choice for this layer; the network or the "
                                  f"configuration is another one now.\nNote: In the replay:\n    {wanted}\nTo choose from:\n    {others}")
            return [offered.index(wanted)]

        @G_LOGGER.log_exception
        @func.constantmethod
        def report_algorithms(self, contexts, choices):
            for context, choice in zip(contexts, choices):
                chosen = Algorithm.from_trt(context, choice)
                if context.name in self.data and self.data[context.name] != chosen:
                    G_LOGGER.critical(f"Layer: {context.name} | TensorRT selected a tactic different than the one specified in the tactic replay.\n"
                                      f"Note: In the replay:\n    {self.data[context.name]}\nTensorRT's:\n    {chosen}")

    return TacticReplayerClass()
