"""Memory and streams of a device, by the CUDA runtime library; under assay.compat that is the stand-in."""

import contextlib
import ctypes
import importlib.util
import os
import sys

from polygraphy import func, mod, util
from polygraphy.datatype import DataType
from polygraphy.logger import G_LOGGER

np = mod.lazy_import("numpy")


def void_ptr(val=None):
    return ctypes.c_void_p(val)


def _library_folders():
    folders = [*os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep), "/usr/local/cuda/lib64", "/usr/lib", "/lib"]
    folders += [os.path.join(p, "nvidia", "cuda_runtime", "lib") for p in sys.path if p]
    with contextlib.suppress(ImportError, ValueError):
        spec = importlib.util.find_spec("nvidia.cuda_runtime")
        folders += [os.path.join(p, "lib") for p in (spec.submodule_search_locations or []) if spec] if spec else []
    return util.unique_list(os.path.normpath(f) for f in folders if f)


class MemcpyKind:
    """Which way memory is copied."""

    HostToHost = ctypes.c_int(0)
    HostToDevice = ctypes.c_int(1)
    DeviceToHost = ctypes.c_int(2)
    DeviceToDevice = ctypes.c_int(3)
    Default = ctypes.c_int(4)


class Cuda:
    """The functions of the library that are used here. Take the one that wrapper() gives."""

    def __init__(self):
        folders = _library_folders()
        found = util.find_in_dirs("libcudart.so*", folders)
        if not found:
            G_LOGGER.warning(f"No libcudart.so* is in {folders}; the loader is asked for 'libcudart.so'. Add its folder to LD_LIBRARY_PATH.")
        self.handle = ctypes.CDLL(found[0] if found else "libcudart.so")

    @func.constantmethod
    def check(self, status):
        """Throws where a status is an error's."""
        if status != 0:
            G_LOGGER.critical(f"CUDA Error: {status}. The numbers are those of cudaError_t in the CUDA runtime's documentation.")

    def _address(self, call, *arguments):
        """What a function of the library writes to its first argument."""
        place = void_ptr()
        self.check(call(ctypes.byref(place), *arguments))
        return place.value

    @func.constantmethod
    def create_stream(self):
        return self._address(self.handle.cudaStreamCreate)

    @func.constantmethod
    def stream_synchronize(self, ptr):
        self.check(self.handle.cudaStreamSynchronize(void_ptr(ptr)))

    @func.constantmethod
    def destroy_stream(self, ptr):
        self.check(self.handle.cudaStreamDestroy(void_ptr(ptr)))

    @func.constantmethod
    def malloc(self, nbytes):
        """The address of that many bytes."""
        return self._address(self.handle.cudaMalloc, ctypes.c_size_t(nbytes))

    @func.constantmethod
    def free(self, ptr):
        self.check(self.handle.cudaFree(void_ptr(ptr)))

    @func.constantmethod
    def memcpy(self, dst, src, nbytes, kind, stream_ptr=None):
        """Copies; with a stream, in its turn."""
        call = [void_ptr(dst), void_ptr(src), ctypes.c_size_t(nbytes), kind]
        if stream_ptr is None:
            self.check(self.handle.cudaMemcpy(*call))
        else:
            self.check(self.handle.cudaMemcpyAsync(*call, void_ptr(stream_ptr)))


_the_one = None


def wrapper():
    """The one Cuda of this process."""
    global _the_one
    if _the_one is None:
        _the_one = Cuda()
    return _the_one


def try_get_stream_handle(stream):
    return None if stream is None else stream.ptr


class Stream:
    """A queue of work."""

    def __init__(self):
        self.ptr = wrapper().create_stream()

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        self.free()

    def free(self):
        if self.ptr is not None:
            wrapper().destroy_stream(self.ptr)
            self.ptr = None

    def synchronize(self):
        """Waits for what is in it."""
        wrapper().stream_synchronize(self.ptr)


class DeviceView:
    """Memory of a device that is somebody else's, as an array."""

    def __init__(self, ptr, shape, dtype):
        self.ptr, self.shape = int(ptr), shape
        self.itemsize = None
        self.dtype = dtype

    @property
    def dtype(self):
        """NumPy's type, for scripts that are used to it; a DataType where NumPy has none."""
        from polygraphy.exception import DataTypeConversionException

        with G_LOGGER.verbosity():
            try:
                return DataType.to_dtype(self._dtype, "numpy")
            except DataTypeConversionException:
                return self._dtype

    @dtype.setter
    def dtype(self, new):
        self._dtype = DataType.from_dtype(new)
        self.itemsize = self._dtype.itemsize

    @property
    def nbytes(self):
        return util.volume(self.shape) * self.itemsize

    def _check(self, host, is_source):
        host_dtype, host_bytes, bytes_here = util.array.dtype(host), util.array.nbytes(host), self.nbytes
        if host_dtype != self._dtype:
            G_LOGGER.error(f"The host's array is of type {host_dtype}, and that of the device of type {self._dtype}")
        if not util.array.is_contiguous(host):
            G_LOGGER.critical("Provided host buffer is not contiguous in memory.\nHint: util.array.make_contiguous() makes one that is.")
        if is_source and host_bytes > bytes_here:
            G_LOGGER.critical(f"Provided host buffer is larger than device buffer: {host_bytes} bytes, and {bytes_here}.\nHint: resize() the latter.")
        if not is_source and host_bytes < bytes_here:
            G_LOGGER.critical(f"Provided host buffer is smaller than device buffer: {host_bytes} bytes, and {bytes_here}.\n"
                              "Hint: util.array.resize_or_reallocate() makes a larger one.")

    @func.constantmethod
    def copy_to(self, host_buffer, stream=None):
        """Copies to an array of the host, and gives it."""
        if self.nbytes:
            self._check(host_buffer, is_source=False)
            wrapper().memcpy(dst=util.array.data_ptr(host_buffer), src=self.ptr, nbytes=self.nbytes, kind=MemcpyKind.DeviceToHost,
                             stream_ptr=try_get_stream_handle(stream))
        return host_buffer

    @func.constantmethod
    def numpy(self):
        """A new array with the same elements."""
        return self.copy_to(np.empty(self.shape, dtype=DataType.to_dtype(self._dtype, "numpy")))

    def __str__(self):
        return f"{type(self).__name__}[(dtype={self._dtype.name}, shape={self.shape}), ptr={hex(self.ptr)}]"

    def __repr__(self):
        return util.make_repr("DeviceView", ptr=self.ptr, shape=self.shape, dtype=self._dtype)[0]


class DeviceArray(DeviceView):
    """Memory of a device of one's own; a block, or free(), gives it back."""

    def __init__(self, shape=None, dtype=None):
        super().__init__(0, util.default(shape, ()), util.default(dtype, DataType.FLOAT32))
        self.allocated_nbytes = 0
        self.resize(self.shape)

    @staticmethod
    def raw(shape=None):
        """Bytes."""
        return DeviceArray(shape=shape, dtype=DataType.UINT8)

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        self.free()

    def resize(self, shape):
        """Another shape; memory is taken anew where it is too little, and elements are lost then."""
        nbytes = util.volume(shape) * self.itemsize
        if nbytes > self.allocated_nbytes:
            self.free()
            self.ptr, self.allocated_nbytes = wrapper().malloc(nbytes), nbytes
        self.shape = shape
        return self

    def free(self):
        if self.ptr:
            wrapper().free(self.ptr)
        self.ptr, self.allocated_nbytes, self.shape = 0, 0, ()

    def copy_from(self, host_buffer, stream=None):
        """Copies from an array of the host."""
        nbytes = util.array.nbytes(host_buffer)
        if nbytes:
            self._check(host_buffer, is_source=True)
            wrapper().memcpy(dst=self.ptr, src=util.array.data_ptr(host_buffer), nbytes=nbytes, kind=MemcpyKind.HostToDevice,
                             stream_ptr=try_get_stream_handle(stream))
        return self

    def view(self, shape=None, dtype=None):
        """The same memory, perhaps as another type and shape."""
        seen = DeviceView(self.ptr, util.default(shape, self.shape), util.default(dtype, self._dtype))
        if seen.nbytes > self.nbytes:
            G_LOGGER.critical(f"A view cannot exceed the number of bytes of the original array: {seen.nbytes} of {self.nbytes}")
        return seen

    def __repr__(self):
        return util.make_repr("DeviceArray", shape=self.shape, dtype=self._dtype)[0]
