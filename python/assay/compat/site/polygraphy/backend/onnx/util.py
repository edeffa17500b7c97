"""What loaders of ONNX models share."""

import difflib

from polygraphy import mod, util
from polygraphy.common import TensorMetadata
from polygraphy.datatype import DataType
from polygraphy.logger import G_LOGGER, LogMode

gs = mod.lazy_import("onnx_graphsurgeon")
onnx = mod.lazy_import("onnx")
onnx_numpy_helper = mod.lazy_import("onnx.numpy_helper")


def _graphs(graph):
    """A graph, and those within its nodes."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for inner in [attribute.g] if attribute.HasField("g") else attribute.graphs:
                yield from _graphs(inner)


def get_num_nodes(model):
    """How many nodes a model has, within others, too."""
    return sum(len(graph.node) for graph in _graphs(model.graph))


def all_tensor_names(model, include_inputs=None):
    """What nodes give, apart from constants; perhaps inputs, too."""
    names = [name for node in model.graph.node if node.op_type != "Constant" for name in node.output if name]
    return util.unique_list(names + [i.name for i in model.graph.input] * bool(include_inputs))


def _checked(model, names):
    util.check_sequence_contains(all_tensor_names(model, include_inputs=True), names, name="the model", items_name="outputs", check_extra=False)
    return names


def _expand(model, names):
    from polygraphy.backend.trt.util import expand_wildcards

    return expand_wildcards(names, all_tensor_names(model))


def _set_outputs(model, names):
    known = {info.name: info for info in [*model.graph.value_info, *model.graph.output, *model.graph.input]}
    infos = []
    for name in names:
        info = onnx.ValueInfoProto()
        info.CopyFrom(known[name]) if name in known else info.CopyFrom(onnx.helper.make_empty_tensor_value_info(name))
        infos.append(info)
    del model.graph.output[:]
    model.graph.output.extend(infos)
    return model


def mark_outputs(model, outputs):
    """Makes these, names or patterns, the outputs."""
    names = _expand(model, outputs)
    if not names:
        G_LOGGER.critical("No outputs were selected. Please check your wildcard patterns.")
    return _set_outputs(model, _checked(model, names))


def mark_layerwise(model):
    """Makes everything that nodes give an output."""
    return _set_outputs(model, all_tensor_names(model))


def mark_by_op_type(model, op_types):
    """Makes what nodes of these types give the outputs, if there are any."""
    there, names = {node.op_type.lower(): node.op_type for node in model.graph.node}, []
    for asked in op_types:
        if asked.lower() not in there:
            near = difflib.get_close_matches(asked, there.values(), n=5)
            G_LOGGER.error(f"No ONNX nodes of op type '{asked}' were found in the model."
                           + (f" Did you mean one of: {near}?" if near else f" Available op types: {sorted(there.values())}"))
            continue
        names += [name for node in model.graph.node if node.op_type.lower() == asked.lower() for name in node.output if name]
    return _set_outputs(model, util.unique_list(names)) if names else model


def unmark_outputs(model, outputs):
    """These, names or patterns, are no outputs any more."""
    gone = set(_checked(model, _expand(model, outputs)))
    kept = [info for info in model.graph.output if info.name not in gone]
    del model.graph.output[:]
    model.graph.output.extend(kept)
    return model


def get_shape(tensor):
    """Extents: numbers, names, or -1."""
    if isinstance(tensor, onnx.TensorProto):
        return list(tensor.dims)
    dims = tensor.type.tensor_type.shape.dim
    return [d.dim_param if d.HasField("dim_param") else d.dim_value if d.HasField("dim_value") else -1 for d in dims]


def get_dtype(tensor):
    """A DataType."""
    number = tensor.data_type if isinstance(tensor, onnx.TensorProto) else tensor.type.tensor_type.elem_type
    return DataType.from_dtype(number, "onnx")


def get_values(tensor):
    """An initializer as an array."""
    try:
        return onnx_numpy_helper.to_array(tensor)
    except Exception as error:
        G_LOGGER.error(f"Failed to load weights.\nNote: Error was: {error}", mode=LogMode.ONCE)
        return "<error: failed to load weights>"


def get_tensor_metadata(tensors):
    """Types and shapes by name."""
    metadata = TensorMetadata()
    for tensor in tensors:
        metadata.add(tensor.name, get_dtype(tensor), get_shape(tensor))
    return metadata


def get_input_metadata(graph):
    """Of a graph's inputs, without those that are initializers."""
    initializers = {tensor.name for tensor in graph.initializer}
    return get_tensor_metadata([i for i in graph.input if i.name not in initializers])


def get_output_metadata(graph):
    return get_tensor_metadata(graph.output)


def str_from_onnx(model, show_layers=None, show_attrs=None, show_weights=None):
    """A model as `inspect model` shows it."""
    from assay import Model

    return Model(model).text(layers=bool(show_layers), attributes=bool(show_attrs), weights=bool(show_weights))


def meta_from_gs_tensors(tensors):
    """Of tensors of ONNX-GraphSurgeon."""
    metadata = TensorMetadata()
    for tensor in tensors:
        metadata.add(tensor.name, tensor.dtype, tensor.shape)
    return metadata


def set_shapes_from_layerwise_meta(graph, layerwise_meta):
    """Gives a graph's variables types and shapes."""
    for tensor in graph.tensors().values():
        if isinstance(tensor, gs.Variable) and tensor.name in layerwise_meta:
            dtype, shape = layerwise_meta[tensor.name]
            tensor.shape, tensor.dtype = shape, DataType.to_dtype(DataType.from_dtype(dtype), "onnx")


def lower_constant_nodes(graph):
    """Constants in place of a graph's Constant nodes."""
    lowered = [node for node in graph.nodes if node.op == "Constant" and "value" in node.attrs]
    for node in lowered:
        node.outputs[0].to_constant(node.attrs["value"].values)
    gone = set(map(id, lowered))
    graph.nodes = [node for node in graph.nodes if id(node) not in gone]
    return graph


_SIZE_INPUTS = {"Range": 1, "Pad": 1, "Resize": 3, "Tile": 1, "Expand": 1}
"""Which input of a node says how large its output is."""


def get_unbounded_dds_tensors(graph):
    """Variables that extents of others depend on, and that nothing bounds."""
    graph.toposort()
    names = {extent for tensor in graph.inputs for extent in tensor.shape or () if isinstance(extent, str)}
    found = {}
    for node in graph.nodes:
        makes_new = False
        for tensor in node.outputs:
            new = {extent for extent in tensor.shape or () if isinstance(extent, str)} - names
            makes_new = makes_new or tensor.shape is None or bool(new)
            names |= new
        place = _SIZE_INPUTS.get(node.op)
        if not makes_new or place is None or place >= len(node.inputs):
            continue
        size = node.inputs[place]
        if not isinstance(size, gs.Constant) and len(size.inputs) and size.inputs[0].op != "Min":
            found.setdefault(size.name, size)
    return list(found.values())
