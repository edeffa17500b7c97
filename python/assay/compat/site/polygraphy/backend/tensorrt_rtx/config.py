"""Configurations for TensorRT-RTX."""

from polygraphy import config as _switches
from polygraphy import mod, util
from polygraphy.backend.trt import util as trt_util
from polygraphy.backend.trt.config import _CreateConfigCommon
from polygraphy.logger import G_LOGGER
from polygraphy.mod.trt_importer import lazy_import_trt

trt = lazy_import_trt()


@mod.export(funcify=True)
class CreateConfigRTX(_CreateConfigCommon):
    """Makes a configuration for TensorRT-RTX."""

    def __init__(self, use_gpu=None, compute_capabilities=None, **kwargs):
        """`use_gpu`: for the device that is there; `compute_capabilities`: or for these, a list of (major, minor)."""
        if not _switches.USE_TENSORRT_RTX:
            G_LOGGER.critical("CreateConfigRTX is for TensorRT-RTX: set POLYGRAPHY_USE_TENSORRT_RTX=1.")
        super().__init__(**kwargs)
        self.use_gpu, self.compute_capabilities = util.default(use_gpu, False), compute_capabilities
        if self.use_gpu and compute_capabilities:
            G_LOGGER.critical("use_gpu and compute_capabilities are mutually exclusive")

    @util.check_called_by("__call__")
    def call_impl(self, builder, network):
        config = super().call_impl(builder, network)
        wanted = [trt.ComputeCapability.CURRENT] if self.use_gpu else []
        with trt_util.needs("compute_capabilities in CreateConfigRTX"):
            wanted += [getattr(trt.ComputeCapability, f"SM{major}{minor}") for major, minor in self.compute_capabilities or ()]
            for index, capability in enumerate(wanted):
                config.num_compute_capabilities = len(wanted)
                config.set_compute_capability(capability, index)
        return config
