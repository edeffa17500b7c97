"""Models that sessions look at and that other tools made when the sessions were recorded."""

import os
import shutil
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "errors"))
from onnx_bytes import int_attribute, ints_attribute, model, node, tensor, tensor_attribute, value_info

FLOAT, INT64, BOOL = 1, 7, 9
GRAPH = "onnx_graphsurgeon_graph"


def ones(name, dims):
    count = 1
    for d in dims:
        count *= d
    return tensor(name, dims, struct.pack(f"<{count}f", *[1.0] * count))


def integers(name, dims, values):
    return tensor(name, dims, struct.pack(f"<{len(values)}q", *values), INT64)


def folded():
    """foldable.onnx after surgeon sanitize --fold-constants."""
    add = node("Add", ["input", "e"], ["output"])
    return model([add], [value_info("input", [1, 3])], [value_info("output", [1, 3])], [ones("e", [1, 3])], 11, name=GRAPH)


def reduced():
    """reduce_model.onnx after debug reduce."""
    image = [1, 3, 224, 224]
    add = node("Add", ["mul_out", "b"], ["add_out"])
    weight = tensor("b", image, bytes(4 * 3 * 224 * 224))
    return model([add], [value_info("mul_out", image)], [value_info("add_out", image)], [weight], 11, name=GRAPH)


def dyn():
    """identity.onnx after surgeon sanitize --override-input-shapes."""
    shape = ["batch", 1, 2, 2]
    return model([node("Identity", ["x"], ["y"])], [value_info("x", shape)], [value_info("y", shape)], (), 8, name="test_identity")


def dds():
    """unbounded_dds.onnx after surgeon sanitize --set-unbounded-dds-upper-bound, which appends a node out of order."""
    length = "Range_5_o0__d0"
    constant = "onnx_graphsurgeon_constant_"
    nodes = [
        node("Constant", [], ["constant_out_0"], "onnx_graphsurgeon_node_1", attributes=[tensor_attribute("value", ones("", [3, 3, 3, 3]))]),
        node("Constant", [], ["constant_out_2"], "onnx_graphsurgeon_node_3", attributes=[tensor_attribute("value", ones("", [4, 1, 1, 1]))]),
        node("Conv", ["Input", "constant_out_0"], ["conv_out_4"], "Conv_0", attributes=[ints_attribute("kernel_shape", [3, 3])]),
        node("ReduceMax", ["conv_out_4"], ["reduce_max_out_5"], "ReduceMax_0", attributes=[int_attribute("keepdims", 0)]),
        node("Cast", ["reduce_max_out_5"], ["cast_out_6_copy"], "Cast_to_int64", attributes=[int_attribute("to", INT64)]),
        node("Range", [constant + "7", "cast_out_6", constant + "8"], ["range_out_9"], "Range"),
        node("Cast", ["range_out_9"], ["cast_out_10"], "Cast_to_float", attributes=[int_attribute("to", FLOAT)]),
        node("Reshape", ["cast_out_10", constant + "11"], ["reshape_out_12"], "Reshape_1"),
        node("Conv", ["reshape_out_12", "constant_out_2"], ["conv_out_13"], "Conv_1", attributes=[ints_attribute("kernel_shape", [1, 1])]),
        node("Min", ["cast_out_6_copy", "cast_out_6_upper_bound"], ["cast_out_6"]),
    ]
    values = [
        value_info("constant_out_0", [3, 3, 3, 3]), value_info("constant_out_2", [4, 1, 1, 1]),
        value_info("conv_out_4", [1, 3, 8, 8]), value_info("reduce_max_out_5", []),
        value_info("cast_out_6_copy", [], INT64), value_info("cast_out_6", [], INT64),
        value_info("range_out_9", [length], INT64), value_info("cast_out_10", [length]),
        value_info("reshape_out_12", [1, 1, length, 1]),
    ]
    initializers = [
        integers(constant + "7", [], [0]), integers(constant + "8", [], [1]),
        integers(constant + "11", [4], [1, 1, -1, 1]), integers("cast_out_6_upper_bound", [], [1000]),
    ]
    inputs, outputs = [value_info("Input", [1, 3, 10, 10])], [value_info("conv_out_13", [1, 4, length, 1])]
    return model(nodes, inputs, outputs, initializers, values=values, name=GRAPH)


def bool_out():
    """Truth values of numbers."""
    cast = node("Cast", ["x"], ["b"], attributes=[int_attribute("to", BOOL)])
    return model([cast], [value_info("x", [4])], [value_info("b", [4], BOOL)], (), 13, name="bool_out")


def write_all(folder):
    for make in (folded, reduced, dyn, dds, bool_out):
        with open(f"{folder}/{make.__name__}.onnx", "wb") as file:
            file.write(make())
    # surgeon prune finds nothing to prune in it.
    shutil.copy(f"{folder}/needs_constraints.onnx", f"{folder}/pruned.onnx")
