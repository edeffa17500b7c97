"""The stand-ins for a device: cuda.cudart, cuda.bindings, pycuda, libcudart."""

import ctypes
import unittest

from support import CompatTest


class Runtime(CompatTest):
    def setUp(self):
        super().setUp()
        import numpy as np
        from cuda import cudart

        self.np, self.rt = np, cudart
        self.ok = cudart.cudaError_t.cudaSuccess
        self.bad = cudart.cudaError_t.cudaErrorInvalidValue
        self.kind = cudart.cudaMemcpyKind

    def test_pools_of_memory(self):
        from cuda.bindings import driver, runtime as rt

        props = rt.cudaMemPoolProps()
        self.assertEqual(rt.cudaMemPoolCreate(props)[0], 1, "no kind of memory is chosen")
        props.allocType = rt.cudaMemAllocationType.cudaMemAllocationTypePinned
        props.location.type = rt.cudaMemLocationType.cudaMemLocationTypeDevice
        props.location.id = 1
        self.assertNotEqual(rt.cudaMemPoolCreate(props)[0], 0, "there is one device")
        props.location.id = 0
        error, pool = rt.cudaMemPoolCreate(props)
        self.assertEqual(error, 0)
        attribute = rt.cudaMemPoolAttr
        self.assertEqual(rt.cudaMemPoolSetAttribute(pool, attribute.cudaMemPoolAttrReleaseThreshold, driver.cuuint64_t(1 << 20)), (0,))
        self.assertEqual(int(rt.cudaMemPoolGetAttribute(pool, attribute.cudaMemPoolAttrReleaseThreshold)[1]), 1 << 20)
        used = lambda name: int(rt.cudaMemPoolGetAttribute(pool, getattr(attribute, name))[1])
        _, first = rt.cudaMallocFromPoolAsync(1000, pool, 0)
        _, second = rt.cudaMallocFromPoolAsync(24, pool, 0)
        self.assertEqual((used("cudaMemPoolAttrUsedMemCurrent"), used("cudaMemPoolAttrUsedMemHigh")), (1024, 1024))
        self.assertEqual(rt.cudaFreeAsync(first, 0), (0,))
        rt.cudaDeviceSynchronize()
        self.assertEqual((used("cudaMemPoolAttrUsedMemCurrent"), used("cudaMemPoolAttrUsedMemHigh")), (24, 1024))
        self.assertEqual(rt.cudaMemPoolSetAttribute(pool, attribute.cudaMemPoolAttrUsedMemHigh, 0), (0,))
        self.assertEqual(used("cudaMemPoolAttrUsedMemHigh"), 24)
        self.assertNotEqual(rt.cudaMemPoolSetAttribute(pool, attribute.cudaMemPoolAttrUsedMemHigh, 5)[0], 0)
        self.assertEqual(rt.cudaMemPoolDestroy(pool), (0,))
        self.assertNotEqual(rt.cudaMemPoolDestroy(pool)[0], 0, "twice")
        self.assertNotEqual(rt.cudaMallocFromPoolAsync(8, pool, 0)[0], 0)
        self.assertEqual(rt.cudaFree(second), (0,), "memory outlives its pool")
        self.assertNotEqual(rt.cudaMemPoolDestroy(rt.cudaDeviceGetDefaultMemPool(0)[1])[0], 0)

    def test_copies_to_the_device_and_back(self):
        a, b = self.np.arange(100, dtype=self.np.float32), self.np.zeros(100, self.np.float32)
        error, p = self.rt.cudaMalloc(a.nbytes)
        self.assertEqual((error, p % 256), (self.ok, 0))
        self.assertEqual(self.rt.cudaMemcpy(p, a.ctypes.data, a.nbytes, self.kind.cudaMemcpyHostToDevice), (self.ok,))
        self.assertEqual(self.rt.cudaMemcpy(b, p, b.nbytes, self.kind.cudaMemcpyDeviceToHost), (self.ok,))
        self.assertTrue(self.np.array_equal(a, b))
        self.assertEqual(self.rt.cudaFree(p), (self.ok,))

    def test_refuses_what_the_real_one_refuses(self):
        a = self.np.zeros(16, self.np.float32)
        _, p = self.rt.cudaMalloc(64)
        to, back = self.kind.cudaMemcpyHostToDevice, self.kind.cudaMemcpyDeviceToHost
        for what, call in {
            "beyond the end": lambda: self.rt.cudaMemcpy(p, a.ctypes.data, 65, to),
            "beyond the end, from inside": lambda: self.rt.cudaMemcpy(a.ctypes.data, p + 60, 8, back),
            "nobody's address": lambda: self.rt.cudaMemcpy(a.ctypes.data, 0xDEAD0000, 4, back),
            "nobody's host address": lambda: self.rt.cudaMemcpy(p, 0x10, 4, to),
            "a host address as the device's": lambda: self.rt.cudaMemcpy(a.ctypes.data, a.ctypes.data + 4, 4, to),
            "a device address as the host's": lambda: self.rt.cudaMemcpy(p, a.ctypes.data, 4, back),
            "null": lambda: self.rt.cudaMemcpy(0, a.ctypes.data, 4, to),
            "free inside": lambda: self.rt.cudaFree(p + 4),
            "more than the array": lambda: self.rt.cudaMemcpy(p, a[:2], 64, to),
        }.items():
            self.assertEqual(call()[0], self.bad, what)
        self.assertEqual(self.rt.cudaFree(p), (self.ok,))
        self.assertEqual(self.rt.cudaFree(p), (self.bad,), "double free")
        self.assertEqual(self.rt.cudaMemcpy(a.ctypes.data, p, 4, back), (self.bad,), "use after free")
        self.assertEqual(self.rt.cudaMalloc(1 << 60), (self.rt.cudaError_t.cudaErrorMemoryAllocation, None))
        self.assertEqual(self.rt.cudaFree(0), (self.ok,))

    def test_streams_keep_order_and_events_tell_time(self):
        _, s = self.rt.cudaStreamCreate()
        _, pinned = self.rt.cudaHostAlloc(4, 0)
        _, p = self.rt.cudaMalloc(4)
        cell = ctypes.c_int32.from_address(pinned)
        _, begin = self.rt.cudaEventCreate()
        _, end = self.rt.cudaEventCreate()
        self.rt.cudaEventRecord(begin, s)
        for i in range(50):
            value = self.np.array([i], self.np.int32)
            self.assertEqual(self.rt.cudaMemcpyAsync(p, value.ctypes.data, 4, self.kind.cudaMemcpyHostToDevice, s), (self.ok,))
            value[0] = -1  # pageable memory may be used again at once
        self.rt.cudaMemcpyAsync(pinned, p, 4, self.kind.cudaMemcpyDeviceToHost, s)
        self.rt.cudaEventRecord(end, s)
        self.assertEqual(self.rt.cudaStreamSynchronize(s), (self.ok,))
        self.assertEqual(cell.value, 49)
        error, ms = self.rt.cudaEventElapsedTime(begin, end)
        self.assertEqual(error, self.ok)
        self.assertGreaterEqual(ms, 0)
        self.assertEqual(self.rt.cudaStreamDestroy(s), (self.ok,))
        self.assertEqual(self.rt.cudaStreamSynchronize(s), (self.rt.cudaError_t.cudaErrorInvalidResourceHandle,))

    def test_graphs_repeat_what_was_captured(self):
        _, s = self.rt.cudaStreamCreate()
        _, a = self.rt.cudaMalloc(4)
        _, b = self.rt.cudaMalloc(4)
        self.rt.cudaMemset(b, 0, 4)
        self.rt.cudaStreamBeginCapture(s, self.rt.cudaStreamCaptureMode.cudaStreamCaptureModeGlobal)
        self.rt.cudaMemcpyAsync(b, a, 4, self.kind.cudaMemcpyDeviceToDevice, s)
        _, graph = self.rt.cudaStreamEndCapture(s)
        _, ready = self.rt.cudaGraphInstantiate(graph, 0)
        for value in (3, 5):
            self.rt.cudaMemset(a, value, 4)
            self.rt.cudaGraphLaunch(ready, s)
            self.rt.cudaStreamSynchronize(s)
            self.assertEqual(ctypes.string_at(b, 4), bytes([value] * 4))

    def test_says_what_it_is(self):
        _, properties = self.rt.cudaGetDeviceProperties(0)
        self.assertIn(b"assay", properties.name)
        self.assertIn("stand-in", repr(self.rt.cudaStreamCreate()[1]))
        self.assertEqual(self.rt.cudaSetDevice(1), (self.rt.cudaError_t.cudaErrorInvalidDevice,))

    def test_the_driver_and_nvrtc_beside_it(self):
        from cuda.bindings import driver, nvrtc

        self.assertEqual(driver.cuInit(0), (driver.CUresult.CUDA_SUCCESS,))
        self.assertEqual(driver.cuCtxCreate(None, 0, driver.cuDeviceGet(0)[1])[0], 0)
        self.assertEqual(driver.cuModuleLoadData(b"")[0], driver.CUresult.CUDA_ERROR_NOT_SUPPORTED)
        with self.assertRaisesRegex(RuntimeError, "no CUDA kernels"):
            nvrtc.nvrtcCreateProgram(b"", b"", 0, [], [])


class PyCuda(CompatTest):
    def test_copies_and_refuses(self):
        import numpy as np
        import pycuda.autoinit  # noqa: F401
        import pycuda.driver as cuda

        stream, a = cuda.Stream(), cuda.pagelocked_empty(10, np.float32)
        a[:] = np.arange(10)
        b, p = np.zeros(10, np.float32), cuda.mem_alloc(a.nbytes)
        cuda.memcpy_htod_async(p, a, stream)
        cuda.memcpy_dtoh_async(b, p, stream)
        stream.synchronize()
        self.assertTrue(np.array_equal(a, b))
        with self.assertRaisesRegex(cuda.LogicError, "beyond the end"):
            cuda.memcpy_htod(p, np.zeros(11, np.float32))
        with self.assertRaises(cuda.LogicError):
            cuda.memcpy_dtoh(b, 0xDEAD0000)
        with self.assertRaises(cuda.MemoryError):
            cuda.mem_alloc(1 << 60)
        p.free()
        with self.assertRaisesRegex(cuda.LogicError, "freed before"):
            p.free()
        self.assertIn("stand-in", repr(p))


class LibCudart(CompatTest):
    def test_ctypes_gets_the_stand_in(self):
        library = ctypes.CDLL("libcudart.so.12")
        self.assertIn("assay", repr(library))
        p = ctypes.c_void_p()
        self.assertEqual(library.cudaMalloc(ctypes.byref(p), 16), 0)
        text = ctypes.create_string_buffer(b"0123456789abcdef", 16)
        self.assertEqual(library.cudaMemcpy(p, text, 16, 1), 0)
        self.assertEqual(library.cudaMemcpy(p, text, 17, 1), 1)
        self.assertEqual(ctypes.string_at(p.value, 16), b"0123456789abcdef")
        self.assertEqual((library.cudaFree(p), library.cudaFree(p)), (0, 1))
        with self.assertRaisesRegex(AttributeError, "stand-in"):
            library.cudaLaunchKernel
        self.assertGreater(ctypes.CDLL("libc.so.6").getpid(), 0)


if __name__ == "__main__":
    unittest.main()
