from polygraphy.cuda.cuda import Cuda, DeviceArray, DeviceView, MemcpyKind, Stream, wrapper  # noqa: F401
