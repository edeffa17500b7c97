"""Which inputs of a network are shape tensors: those whose elements become extents."""

from .enums import LayerType

# By operator: the inputs that say a shape. None: all.
_PARSED = {"Reshape": {1}, "Expand": {1}, "Tile": {1}, "Slice": {1, 2, 4}, "Resize": {2, 3}, "Upsample": {1}, "Pad": {1},
           "ConstantOfShape": {0}, "Range": None, "TopK": {1}, "OneHot": {1}, "CenterCropPad": {1}, "AffineGrid": {1}}
_RECORDED = {LayerType.SHUFFLE: {1}, LayerType.SLICE: {1, 2, 3}, LayerType.RESIZE: {1}, LayerType.FILL: {0},
             LayerType.TOPK: {1}, LayerType.ONE_HOT: {2}}
# What computes extents from extents.
_PARSED_STEPS = set("Add Sub Mul Div Min Max Mod Neg Abs Concat Gather Cast Identity Squeeze Unsqueeze Slice Where Equal "
                    "ReduceProd Floor Ceil".split())
_RECORDED_STEPS = {LayerType.ELEMENTWISE, LayerType.CONCATENATION, LayerType.GATHER, LayerType.IDENTITY, LayerType.CAST,
                   LayerType.SQUEEZE, LayerType.UNSQUEEZE, LayerType.SELECT, LayerType.UNARY, LayerType.REDUCE, LayerType.SHUFFLE,
                   LayerType.SLICE}


def is_used_as_shape(tensor):
    """Whether a layer takes the elements of `tensor`, or what follows from them, for a shape."""
    readers = {}
    for layer in tensor._network._layers:
        for at, t in enumerate(layer._inputs):
            if t is not None:
                readers.setdefault(id(t), []).append((layer, at))
    seen, waiting = set(), [tensor]
    while waiting:
        t = waiting.pop()
        if id(t) in seen:
            continue
        seen.add(id(t))
        for layer, at in readers.get(id(t), []):
            if _takes_shape(layer, at):
                return True
            if _computes(layer):
                waiting += layer._outputs
    return False


def _takes_shape(layer, at):
    if layer._node is not None:
        op = layer._node.op_type
        return op in _PARSED and (_PARSED[op] is None or at in _PARSED[op])
    return at in _RECORDED.get(layer.type, ())


def _computes(layer):
    return layer._node.op_type in _PARSED_STEPS if layer._node is not None else layer.type in _RECORDED_STEPS
