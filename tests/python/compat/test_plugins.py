"""Plugins in Python whose enqueue() works on host memory: V2DynamicExt and V3, in networks by hand and in parsed models."""

import ctypes
import unittest

from support import CompatTest, Recorded


def view(address, desc):
    import numpy as np
    import tensorrt as trt

    dtype, count = np.dtype(trt.nptype(desc.type)), int(np.prod(tuple(desc.dims)))
    cells = (ctypes.c_ubyte * (count * dtype.itemsize)).from_address(address)
    return np.frombuffer(cells, dtype).reshape(tuple(desc.dims))


def pad_classes(trt, np):
    """(V2 class and creator, V3 class and creator): the last axis gets `left` and `right` zeros."""

    def shape_of(inputs, builder, pads):
        dims = trt.DimsExprs(inputs[0])
        dims[len(dims) - 1] = builder.operation(trt.DimensionOperation.SUM, inputs[0][len(dims) - 1],
                                                builder.constant(int(np.sum(pads))))
        return dims

    def work(self, input_desc, output_desc, inputs, outputs):
        x, y = view(inputs[0], input_desc[0]), view(outputs[0], output_desc[0])
        y[:] = np.pad(x, [(0, 0)] * (x.ndim - 1) + [tuple(int(p) for p in self.pads)])

    class V2(trt.IPluginV2DynamicExt):
        def __init__(self, pads):
            trt.IPluginV2DynamicExt.__init__(self)
            self.num_outputs, self.plugin_type, self.plugin_version, self.plugin_namespace = 1, "PadV2", "1", ""
            self.pads = pads

        def get_output_datatype(self, index, types):
            return types[0]

        def get_output_dimensions(self, index, inputs, builder):
            return shape_of(inputs, builder, self.pads)

        def supports_format_combination(self, pos, in_out, num_inputs):
            return in_out[pos].format == trt.TensorFormat.LINEAR and in_out[pos].type == trt.float32

        def configure_plugin(self, inp, out):
            assert tuple(inp[0].desc.dims) is not None

        def enqueue(self, input_desc, output_desc, inputs, outputs, workspace, stream):
            work(self, input_desc, output_desc, inputs, outputs)

        def serialize(self):
            return np.asarray(self.pads, np.int32).tobytes()

        def clone(self):
            return V2(self.pads)

    class CreatorV2(trt.IPluginCreator):
        def __init__(self):
            trt.IPluginCreator.__init__(self)
            self.name, self.plugin_version, self.plugin_namespace = "PadV2", "1", ""
            self.field_names = trt.PluginFieldCollection([trt.PluginField("pads", np.array([]), trt.PluginFieldType.INT32)])

        def create_plugin(self, name, fields):
            return V2(list(fields[0].data))

        def deserialize_plugin(self, name, data):
            return V2(list(np.frombuffer(data, np.int32)))

    class V3(trt.IPluginV3, trt.IPluginV3OneCore, trt.IPluginV3OneBuild, trt.IPluginV3OneRuntime):
        def __init__(self, pads):
            for base in (trt.IPluginV3, trt.IPluginV3OneCore, trt.IPluginV3OneBuild, trt.IPluginV3OneRuntime):
                base.__init__(self)
            self.num_outputs, self.plugin_name, self.plugin_version, self.plugin_namespace = 1, "PadV3", "1", ""
            self.pads, self.seen = pads, None

        def get_capability_interface(self, type):
            return self

        def get_output_data_types(self, types):
            return [types[0]]

        def get_output_shapes(self, inputs, shape_inputs, builder):
            return [shape_of(inputs, builder, self.pads)]

        def supports_format_combination(self, pos, in_out, num_inputs):
            return in_out[pos].desc.type == trt.float32

        def on_shape_change(self, inp, out):
            self.seen = tuple(inp[0].dims)

        def enqueue(self, input_desc, output_desc, inputs, outputs, workspace, stream):
            assert self.seen == tuple(input_desc[0].dims)
            work(self, input_desc, output_desc, inputs, outputs)

        def attach_to_context(self, context):
            return self.clone()

        def get_fields_to_serialize(self):
            return trt.PluginFieldCollection([trt.PluginField("pads", np.asarray(self.pads, np.int32), trt.PluginFieldType.INT32)])

        def clone(self):
            return V3(self.pads)

    class CreatorV3(trt.IPluginCreatorV3One):
        def __init__(self):
            trt.IPluginCreatorV3One.__init__(self)
            self.name, self.plugin_version, self.plugin_namespace = "PadV3", "1", ""
            self.field_names = trt.PluginFieldCollection([trt.PluginField("pads", np.array([]), trt.PluginFieldType.INT32)])

        def create_plugin(self, name, fields, phase):
            return V3(list(fields[0].data))

    return V2, CreatorV2(), V3, CreatorV3()


class Plugins(CompatTest):
    def setUp(self):
        super().setUp()
        import numpy as np
        import tensorrt as trt

        self.np, self.trt, self.log = np, trt, Recorded()
        self.v2, v2c, self.v3, v3c = pad_classes(trt, np)
        registry = trt.get_plugin_registry()
        for creator in list(registry.all_creators):
            registry.deregister_creator(creator)
        for creator in (v2c, v3c):
            self.assertTrue(registry.register_creator(creator, ""))
            self.assertFalse(registry.register_creator(creator, ""))
        self.creators = (v2c, v3c)

    def run_plan(self, plan, x):
        self.assertIsNotNone(plan, self.log.errors)
        engine = self.trt.Runtime(self.log).deserialize_cuda_engine(bytes(plan))
        self.assertIsNotNone(engine, self.log.errors)
        context = engine.create_execution_context()
        self.assertTrue(context.set_input_shape("x", x.shape), self.log.errors)
        y = self.np.zeros(tuple(context.get_tensor_shape("y")), self.np.float32)
        context.set_tensor_address("x", x.ctypes.data)
        context.set_tensor_address("y", y.ctypes.data)
        self.assertTrue(context.execute_async_v3(0), self.log.errors)
        return engine, y

    def network(self, is_v3, shape, ranges=None):
        """y = 2 * pad(x + 1)."""
        trt, np = self.trt, self.np
        builder = trt.Builder(self.log)
        network, config = builder.create_network(0), builder.create_builder_config()
        x = network.add_input("x", trt.float32, shape)

        def constant(value):
            return network.add_constant((1, 1), np.full((1, 1), value, np.float32)).get_output(0)

        one = network.add_elementwise(x, constant(1), trt.ElementWiseOperation.SUM).get_output(0)
        padded = network.add_plugin_v3([one], [], self.v3([1, 2])) if is_v3 else network.add_plugin_v2([one], self.v2([1, 2]))
        self.assertEqual(tuple(padded.get_output(0).shape), (shape[0], -1 if shape[1] < 0 else shape[1] + 3))
        y = network.add_elementwise(padded.get_output(0), constant(2), trt.ElementWiseOperation.PROD).get_output(0)
        y.name = "y"
        network.mark_output(y)
        if ranges:
            profile = builder.create_optimization_profile()
            profile.set_shape("x", *ranges)
            config.add_optimization_profile(profile)
        return builder.build_serialized_network(network, config)

    def test_in_a_network_by_hand(self):
        np = self.np
        for is_v3 in (False, True):
            for shape, ranges in (((2, 4), None), ((-1, -1), ((1, 1), (2, 4), (8, 8)))):
                with self.subTest(is_v3=is_v3, shape=shape):
                    x = np.random.default_rng(0).standard_normal((2, 4)).astype(np.float32)
                    engine, y = self.run_plan(self.network(is_v3, shape, ranges), x)
                    np.testing.assert_allclose(y, 2 * np.pad(x + 1, [(0, 0), (1, 2)]), rtol=1e-6)
                    self.assertIn("plugin", " ".join(engine._made.layers(False)))

    def test_in_a_parsed_model(self):
        try:
            from onnx import TensorProto, helper
        except ImportError:
            self.skipTest("NOT TESTED: a parsed model with a plugin needs the package onnx")
        np, trt = self.np, self.trt
        for op in ("PadV2", "PadV3"):
            nodes = [helper.make_node("Relu", ["x"], ["r"], "relu"), helper.make_node(op, ["r"], ["p"], "pad", pads=[2, 1]),
                     helper.make_node("Neg", ["p"], ["y"], "neg")]
            graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])],
                                      [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 6])])
            model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
            builder = trt.Builder(self.log)
            network = builder.create_network(0)
            parser = trt.OnnxParser(network, self.log)
            self.assertTrue(parser.parse(model.SerializeToString()), self.log.errors)
            x = np.array([[-1, 2, 3], [4, -5, 6]], np.float32)
            _, y = self.run_plan(builder.build_serialized_network(network, builder.create_builder_config()), x)
            self.assertTrue(np.array_equal(y, -np.pad(np.maximum(x, 0), [(0, 0), (2, 1)])))

    def test_a_plan_whose_creator_is_missing(self):
        plan = self.network(True, (2, 4))
        self.trt.get_plugin_registry().deregister_creator(self.creators[1])
        self.assertIsNone(self.trt.Runtime(self.log).deserialize_cuda_engine(plan))
        self.assertIn("PadV3", self.log.errors[-1])
        self.assertIsNone(self.trt.Runtime(self.log).deserialize_cuda_engine(bytes(plan)[:-8]))

    def test_what_enqueue_raises_fails_the_run(self):
        plan = self.network(False, (2, 4))
        engine = self.trt.Runtime(self.log).deserialize_cuda_engine(plan)
        context = engine.create_execution_context()

        def fail(*_):
            raise RuntimeError("the plugin's own error")

        context._runs._runs[1]._plugin.plugin.enqueue = fail
        x, y = self.np.zeros((2, 4), self.np.float32), self.np.zeros((2, 7), self.np.float32)
        with self.assertRaisesRegex(RuntimeError, "own error"):
            context.execute_v2([x.ctypes.data, y.ctypes.data])


if __name__ == "__main__":
    unittest.main()
