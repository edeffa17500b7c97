"""tensorrt over the library: building, running, callbacks, wrong calls."""

import json
import unittest

from support import CompatTest, Recorded, linear_network


class TensorRT(CompatTest):
    def setUp(self):
        super().setUp()
        import numpy as np
        import tensorrt as trt

        self.np, self.trt, self.log = np, trt, Recorded()

    def engine(self, **more):
        builder, network, config, w = linear_network(self.log, **more)
        plan = builder.build_serialized_network(network, config)
        self.assertIsNotNone(plan, self.log.errors)
        return self.trt.Runtime(self.log).deserialize_cuda_engine(plan), w

    def expected(self, x, w):
        return self.np.maximum(x @ w, 0)

    def test_enums_as_scripts_use_them(self):
        trt = self.trt
        self.assertEqual(str(trt.LayerType.CONVOLUTION)[10:], "CONVOLUTION")
        self.assertEqual(str(trt.float32)[9:], "FLOAT")
        self.assertEqual(1 << int(trt.BuilderFlag.INT8), 2)
        self.assertTrue(trt.Logger.ERROR <= trt.Logger.WARNING < trt.Logger.VERBOSE)
        self.assertFalse(trt.LayerType.CONVOLUTION == 0)
        self.assertIsNone(getattr(trt.BuilderFlag, "NO_SUCH", None))
        self.assertEqual(trt.__version__.split(".")[:2], ["10", "16"])
        self.assertIs(trt.tensorrt.Logger, trt.Logger)
        self.assertIn("assay", repr(trt))

    def test_runs_by_name_in_streams_with_other_shapes(self):
        from cuda import cudart

        engine, w = self.engine()
        context = engine.create_execution_context()
        _, stream = cudart.cudaStreamCreate()
        kept = []
        for batch in (1, 8, 3):
            x = self.np.random.default_rng(batch).standard_normal((batch, 16)).astype(self.np.float32)
            y = self.np.zeros((batch, 8), self.np.float32)
            self.assertTrue(context.set_input_shape("x", x.shape))
            self.assertEqual(tuple(context.get_tensor_shape("y")), (batch, 8))
            context.set_tensor_address("x", x.ctypes.data)
            context.set_tensor_address("y", y.ctypes.data)  # aligned by nothing but its type
            self.assertTrue(context.execute_async_v3(stream), self.log.errors)
            kept.append((x, y))
        self.assertEqual(int(cudart.cudaStreamSynchronize(stream)[0]), 0)
        for x, y in kept:
            self.np.testing.assert_allclose(y, self.expected(x, w), rtol=1e-5, atol=1e-5)

    def test_runs_by_position(self):
        engine, w = self.engine()
        context = engine.create_execution_context()
        self.assertEqual([n for n in engine], ["x", "y"])
        self.assertEqual((engine["y"], engine[0], len(engine)), (1, "x", 2))
        self.assertTrue(context.set_binding_shape(0, (2, 16)))
        x = self.np.ones((2, 16), self.np.float32)
        y = self.np.zeros(tuple(context.get_binding_shape(1)), self.trt.nptype(engine.get_binding_dtype(1)))
        self.assertTrue(context.execute_v2([x.ctypes.data, y.ctypes.data]), self.log.errors)
        self.np.testing.assert_allclose(y, self.expected(x, w), rtol=1e-5)

    def test_wrong_calls_are_logged_and_answered(self):
        engine, _ = self.engine()
        context = engine.create_execution_context()
        self.assertFalse(context.set_input_shape("x", (9, 16)), "beyond the profile")
        self.assertFalse(context.set_input_shape("x", (2, 17)))
        self.assertFalse(context.set_input_shape("nothing", (2, 16)))
        self.assertFalse(context.execute_async_v3(0), "no shape")
        self.assertTrue(context.set_input_shape("x", (2, 16)))
        self.assertFalse(context.execute_async_v3(0), "no address")
        context.set_tensor_address("x", 0xDEAD0000)
        y = self.np.zeros((2, 8), self.np.float32)
        context.set_tensor_address("y", y.ctypes.data)
        self.assertFalse(context.execute_async_v3(0), "nobody's memory")
        self.assertFalse(context.execute_async_v3(12345), "no stream")
        self.assertFalse(context.set_optimization_profile_async(1, 0))
        self.assertGreaterEqual(len(self.log.errors), 8)
        self.assertIsNone(self.trt.Runtime(self.log).deserialize_cuda_engine(b"no plan"))
        with self.assertRaises(AttributeError):
            engine.no_such_name = 1
        with self.assertRaises(TypeError):
            self.trt.Builder(None)

    def test_memory_that_is_too_small(self):
        from cuda import cudart

        engine, _ = self.engine()
        context = engine.create_execution_context()
        context.set_input_shape("x", (8, 16))
        _, x = cudart.cudaMalloc(8 * 16 * 4)
        _, y = cudart.cudaMalloc(8 * 8 * 4 - 1)
        self.assertFalse(context.execute_v2([x, y]))
        self.assertIn("room for 255 bytes", self.log.errors[-1])
        cudart.cudaFree(x)
        self.assertFalse(context.execute_v2([x, y]), "freed memory")

    def test_memory_that_was_freed_or_never_was(self):
        from cuda import cudart

        engine, _ = self.engine()  # whose runtime is gone
        context = engine.create_execution_context()
        del engine
        context.set_input_shape("x", (8, 16))
        memory = {name: cudart.cudaMalloc(size)[1] for name, size in (("x", 8 * 16 * 4), ("y", 8 * 8 * 4))}
        for name, address in memory.items():
            context.set_tensor_address(name, address)
        self.assertTrue(context.execute_async_v3(0))
        cudart.cudaDeviceSynchronize()
        for name, size in (("x", 8 * 16 * 4), ("y", 8 * 8 * 4)):
            cudart.cudaFree(memory[name])
            self.assertFalse(context.execute_async_v3(0))
            self.assertIn(f"'{name}'", self.log.errors[-1])
            self.assertIn("was freed", self.log.errors[-1])
            context.set_tensor_address(name, cudart.cudaMalloc(size)[1])
        context.set_tensor_address("y", 0xDEAD0000)
        self.assertFalse(context.execute_async_v3(0))
        self.assertIn("no memory of this process", self.log.errors[-1])

    def test_a_build_that_fails_gives_none_and_records_the_error(self):
        trt = self.trt

        class Recorder(trt.IErrorRecorder):
            def __init__(self):
                trt.IErrorRecorder.__init__(self)
                self.got = []

            def report_error(self, code, desc):
                self.got.append((code, desc))

        builder, network, config, _ = linear_network(self.log)
        builder.error_recorder = Recorder()
        self.assertIsNone(builder.build_serialized_network(network, builder.create_builder_config()), "no profile")
        self.assertTrue(builder.error_recorder.got)
        self.assertTrue(self.log.errors)

    def test_refit_and_names_of_weights(self):
        np, trt = self.np, self.trt
        builder = trt.Builder(self.log)
        network, config = builder.create_network(0), builder.create_builder_config()
        config.set_flag(trt.BuilderFlag.REFIT)
        x = network.add_input("x", trt.float32, (1, 2, 4, 4))
        kernel = np.ones((3, 2, 1, 1), np.float32)
        conv = network.add_convolution_nd(x, 3, (1, 1), trt.Weights(kernel), trt.Weights(np.zeros(3, np.float32)))
        conv.name = "conv"
        conv.get_output(0).name = "y"
        network.mark_output(conv.get_output(0))
        engine = builder.build_engine(network, config)
        self.assertIsNotNone(engine, self.log.errors)
        refitter = trt.Refitter(engine, self.log)
        layers, roles = refitter.get_all()
        self.assertIn(("conv", trt.WeightsRole.KERNEL), list(zip(layers, roles)))
        self.assertTrue(refitter.set_weights("conv", trt.WeightsRole.KERNEL, kernel * 3), self.log.errors)
        self.assertFalse(refitter.set_weights("conv", trt.WeightsRole.KERNEL, np.ones(5, np.float32)))
        self.assertTrue(refitter.refit_cuda_engine())
        feed, out = np.ones((1, 2, 4, 4), np.float32), np.zeros((1, 3, 4, 4), np.float32)
        context = engine.create_execution_context()
        self.assertTrue(context.execute_v2([feed.ctypes.data, out.ctypes.data]), self.log.errors)
        self.assertTrue((out == 6).all(), out)

    def test_callbacks(self):
        trt = self.trt
        phases, times, sizes, asked = [], [], [], []

        class Monitor(trt.IProgressMonitor):
            def phase_start(self, name, parent, steps):
                phases.append(("start", name))

            def step_complete(self, name, step):
                return True

            def phase_finish(self, name):
                phases.append(("finish", name))

        class Selector(trt.IAlgorithmSelector):
            def select_algorithms(self, context, choices):
                asked.append((context.name, len(choices)))
                return [0]

            def report_algorithms(self, contexts, choices):
                asked.append(("report", len(choices)))

        class Times(trt.IProfiler):
            def report_layer_time(self, name, ms):
                times.append((name, ms))

        test = self

        class Allocator(trt.IOutputAllocator):
            def reallocate_output(self, name, memory, size, alignment):
                sizes.append(size)
                self.memory = test.np.zeros(size, test.np.uint8)
                return self.memory.ctypes.data

            def notify_shape(self, name, shape):
                self.shape = tuple(shape)

        builder, network, config, w = linear_network(self.log)
        config.progress_monitor, config.algorithm_selector = Monitor(), Selector()
        engine = builder.build_engine_with_config(network, config)
        begun, ended = (sorted(n for what, n in phases if what == kind) for kind in ("start", "finish"))
        self.assertTrue(begun)
        self.assertEqual(begun, ended)
        self.assertEqual(asked[-1][0], "report")
        context = engine.create_execution_context()
        context.profiler, allocator = Times(), Allocator()
        context.set_output_allocator("y", allocator)
        x = self.np.ones((2, 16), self.np.float32)
        context.set_input_shape("x", x.shape)
        context.set_tensor_address("x", x.ctypes.data)
        self.assertTrue(context.execute_async_v3(0), self.log.errors)
        self.assertEqual((allocator.shape, sizes[-1]), ((2, 8), 64))
        y = allocator.memory.view(self.np.float32).reshape(2, 8)
        self.np.testing.assert_allclose(y, self.expected(x, w), rtol=1e-5)
        self.assertTrue(times)

    def test_a_monitor_that_says_no_ends_the_build(self):
        trt = self.trt

        class Stop(trt.IProgressMonitor):
            def phase_start(self, name, parent, steps):
                pass

            def step_complete(self, name, step):
                return False

            def phase_finish(self, name):
                pass

        builder, network, config, _ = linear_network(self.log)
        config.progress_monitor = Stop()
        self.assertIsNone(builder.build_serialized_network(network, config))

    def test_calibrators_are_called(self):
        from cuda import cudart

        trt, np = self.trt, self.np
        written, batches = [], []

        class Data(trt.IInt8MinMaxCalibrator):
            def __init__(self):
                trt.IInt8MinMaxCalibrator.__init__(self)
                self.memory = cudart.cudaMalloc(4 * 16 * 4)[1]

            def get_batch_size(self):
                return 4

            def get_batch(self, names):
                if len(batches) == 3:
                    return None
                a = np.random.default_rng(len(batches)).standard_normal((4, 16)).astype(np.float32)
                cudart.cudaMemcpy(self.memory, a, a.nbytes, cudart.cudaMemcpyKind.cudaMemcpyHostToDevice)
                batches.append(list(names))
                return [self.memory]

            def read_calibration_cache(self):
                return written[-1] if written else None

            def write_calibration_cache(self, cache):
                written.append(cache.tobytes())

        for _ in range(2):
            builder, network, config, _ = linear_network(self.log, shape=(4, 16))
            config.set_flag(trt.BuilderFlag.INT8)
            config.int8_calibrator = Data()
            self.assertIsNotNone(builder.build_serialized_network(network, config), self.log.errors)
        self.assertEqual(batches, [["x"]] * 3, "the second build reads the cache")
        self.assertTrue(written[0])

    def test_an_allocator_is_told_what_it_gave_last(self):
        """And not the address that execute_v2() names, which may be too small."""
        trt, np = self.trt, self.np
        builder, network, config, w = linear_network(self.log, shape=(4, 16))
        engine = trt.Runtime(self.log).deserialize_cuda_engine(builder.build_serialized_network(network, config))
        given = []

        class Allocator(trt.IOutputAllocator):
            def reallocate_output_async(self, name, memory, size, alignment, stream):
                if given:
                    return memory
                given.append(np.zeros(size, np.uint8))
                return given[0].ctypes.data

            def notify_shape(self, name, shape):
                pass

        context, allocator = engine.create_execution_context(), Allocator()
        context.set_output_allocator("y", allocator)
        small, x = np.zeros(4, np.uint8), np.zeros((4, 16), np.float32)
        for k in range(3):
            x[:] = np.random.default_rng(k).standard_normal(x.shape)
            self.assertTrue(context.execute_v2([x.ctypes.data, small.ctypes.data]), self.log.errors)
            np.testing.assert_allclose(given[0].view(np.float32).reshape(4, 8), np.maximum(x @ w, 0), rtol=1e-4, atol=1e-5)

    def test_ranges_that_a_script_sets_are_scales(self):
        """A range of a tensor is where its numbers end: what is beyond it is clipped, what is within is a multiple of a step."""
        trt, np = self.trt, self.np
        x = np.linspace(-2, 2, 4 * 16, dtype=np.float32).reshape(4, 16)
        results = {}
        for largest in (None, 1.0, 4.0):
            builder, network, config, w = linear_network(self.log, shape=(4, 16))
            config.set_flag(trt.BuilderFlag.INT8)
            if largest is not None:
                network.get_input(0).set_dynamic_range(-largest, largest)
            engine = trt.Runtime(self.log).deserialize_cuda_engine(builder.build_serialized_network(network, config))
            y = np.zeros((4, 8), np.float32)
            self.assertTrue(engine.create_execution_context().execute_v2([x.ctypes.data, y.ctypes.data]), self.log.errors)
            results[largest] = y
        np.testing.assert_allclose(results[None], np.maximum(x @ w, 0), rtol=1e-5, atol=1e-5)
        steps = np.abs(w).max(0) / 127
        for largest in (1.0, 4.0):
            held = np.clip(np.rint(x * np.float32(127 / largest)), -128, 127) * np.float32(largest / 127)
            expected = np.maximum(held @ (np.rint(w / steps) * steps), 0)
            np.testing.assert_allclose(results[largest], expected, atol=0.1, err_msg=str(largest))
        self.assertGreater(np.abs(results[1.0] - results[4.0]).max(), 0.5, "beyond 1 is clipped")

    def test_inputs_as_debug_tensors(self):
        trt, np = self.trt, self.np
        builder, network, config, _ = linear_network(self.log, shape=(4, 16))
        self.assertTrue(network.mark_debug(network.get_input(0)))
        engine = trt.Runtime(self.log).deserialize_cuda_engine(builder.build_serialized_network(network, config))
        seen = []

        class Listener(trt.IDebugListener):
            def process_debug_tensor(self, address, location, dtype, shape, name, stream):
                data = (np.ctypeslib.ctypes.c_float * int(np.prod(tuple(shape)))).from_address(address)
                seen.append((name, tuple(shape), dtype, np.array(data).reshape(tuple(shape))))
                return True

        context = engine.create_execution_context()
        context.set_debug_listener(Listener())
        x, y = np.random.default_rng(0).standard_normal((4, 16)).astype(np.float32), np.zeros((4, 8), np.float32)
        for on, count in ((False, 0), (True, 1)):
            context.set_tensor_debug_state("x", on)
            self.assertTrue(context.execute_v2([x.ctypes.data, y.ctypes.data]), self.log.errors)
            self.assertEqual(len(seen), count)
        name, shape, dtype, data = seen[0]
        self.assertEqual((name, shape, dtype), ("x", (4, 16), trt.float32))
        np.testing.assert_array_equal(data, x)

    def test_outputs_whose_shape_the_run_tells(self):
        trt, np = self.trt, self.np
        builder = trt.Builder(self.log)
        network, config = builder.create_network(0), builder.create_builder_config()
        x = network.add_input("x", trt.float32, (6,))
        found = network.add_non_zero(x).get_output(0)
        found.name = "y"
        network.mark_output(found)
        engine = builder.build_engine(network, config)
        self.assertIsNotNone(engine, self.log.errors)

        class Allocator(trt.IOutputAllocator):
            def reallocate_output(self, name, memory, size, alignment):
                self.memory = np.zeros(size, np.uint8)
                return self.memory.ctypes.data

            def notify_shape(self, name, shape):
                self.shape = tuple(shape)

        context, allocator = engine.create_execution_context(), Allocator()
        context.set_output_allocator("y", allocator)
        values = np.array([0, 1, 0, 2, 3, 0], np.float32)
        context.set_tensor_address("x", values.ctypes.data)
        self.assertTrue(context.execute_async_v3(0), self.log.errors)
        y = allocator.memory.view(trt.nptype(engine.get_tensor_dtype("y"))).reshape(allocator.shape)
        self.assertEqual(y.reshape(-1).tolist(), [1, 3, 4])

    def test_shape_tensors(self):
        trt, np = self.trt, self.np
        builder = trt.Builder(self.log)
        network, config = builder.create_network(0), builder.create_builder_config()
        x, s = network.add_input("x", trt.float32, (2, 6)), network.add_input("s", trt.int32, (2,))
        reshape = network.add_shuffle(x)
        reshape.set_input(1, s)
        self.assertEqual((x.is_shape_tensor, s.is_shape_tensor), (False, True))
        reshape.get_output(0).name = "y"
        network.mark_output(reshape.get_output(0))
        profile = builder.create_optimization_profile()
        profile.set_shape_input("s", (1, 1), (3, 4), (12, 12))
        config.add_optimization_profile(profile)
        engine = builder.build_engine(network, config)
        self.assertIsNotNone(engine, self.log.errors)
        self.assertTrue(engine.is_shape_inference_io("s"))
        self.assertEqual(engine.get_tensor_location("s"), trt.TensorLocation.HOST)
        context = engine.create_execution_context()
        self.assertEqual(context.infer_shapes(), ["s"])
        values = np.arange(12, dtype=np.float32)
        context.set_tensor_address("x", values.ctypes.data)
        for shape in ((4, 3), (2, 6), (12, 1)):
            wanted = np.array(shape, np.int32)
            context.set_tensor_address("s", wanted.ctypes.data)
            self.assertEqual(context.infer_shapes(), [])
            y = np.zeros(shape, np.float32)
            context.set_tensor_address("y", y.ctypes.data)
            self.assertTrue(context.execute_async_v3(0), self.log.errors)
            self.assertTrue(np.array_equal(y, values.reshape(shape)))
        wrong = np.array((13, 1), np.int32)
        context.set_tensor_address("s", wrong.ctypes.data)
        self.assertFalse(context.execute_async_v3(0), "beyond the profile")

    def test_two_profiles_and_the_inspector(self):
        trt = self.trt
        builder, network, config, _ = linear_network(self.log)
        second = builder.create_optimization_profile()
        second.set_shape("x", (16, 16), (32, 16), (64, 16))
        config.add_optimization_profile(second)
        engine = builder.build_engine(network, config)
        self.assertEqual((engine.num_optimization_profiles, engine.num_bindings), (2, 4))
        self.assertEqual(engine[3], "y [profile 1]")
        self.assertEqual([tuple(d) for d in engine.get_tensor_profile_shape("x", 1)], [(16, 16), (32, 16), (64, 16)])
        context = engine.create_execution_context()
        self.assertFalse(context.set_input_shape("x", (64, 16)))
        self.assertTrue(context.set_optimization_profile_async(1, 0))
        self.assertTrue(context.set_input_shape("x", (64, 16)))
        information = json.loads(engine.create_engine_inspector().get_engine_information(trt.LayerInformationFormat.JSON))
        self.assertEqual(len(information["Layers"]), engine.num_layers)


if __name__ == "__main__":
    unittest.main()
