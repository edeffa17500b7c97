"""pycuda.compiler can be imported beside assay's stand-in for a device; nothing can be compiled for it."""


class SourceModule:
    def __init__(self, *_, **__):
        raise RuntimeError("pycuda.compiler.SourceModule: assay's stand-in for a device runs no CUDA kernels; write the work with "
                           "NumPy.")
