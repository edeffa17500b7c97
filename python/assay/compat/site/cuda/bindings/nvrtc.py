"""cuda.bindings.nvrtc can be imported beside assay's stand-in for a device; nothing can be compiled for it."""

import enum as _enum

__assay__ = True
nvrtcResult = _enum.IntEnum("nvrtcResult", [("NVRTC_SUCCESS", 0), ("NVRTC_ERROR_INTERNAL_ERROR", 11)], module=__name__)


def nvrtcGetErrorString(result):
    return nvrtcResult(0), nvrtcResult(int(result)).name.encode()


def nvrtcVersion():
    return nvrtcResult(0), 13, 0


def _refuse(name):
    def call(*_, **__):
        raise RuntimeError(f"{name}: assay's stand-in for a device runs no CUDA kernels; write the plugin's work with NumPy over "
                           "the addresses that it gets.")

    call.__name__ = name
    return call


for _name in ("nvrtcCreateProgram", "nvrtcCompileProgram", "nvrtcGetPTX", "nvrtcGetPTXSize", "nvrtcGetCUBIN",
              "nvrtcGetCUBINSize", "nvrtcGetProgramLog", "nvrtcGetProgramLogSize", "nvrtcDestroyProgram"):
    globals()[_name] = _refuse(_name)
