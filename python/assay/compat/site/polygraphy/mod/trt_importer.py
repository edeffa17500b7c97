"""Which of TensorRT's modules is meant."""

from polygraphy import config
from polygraphy.mod.importer import lazy_import

__all__ = ["lazy_import_trt", "tensorrt_module_and_version_string"]


def tensorrt_module_and_version_string():
    """The module's name with the version that is needed at least."""
    return "tensorrt_rtx>=1.0" if config.USE_TENSORRT_RTX else "tensorrt>=8.5"


def lazy_import_trt():
    """TensorRT, or TensorRT-RTX where POLYGRAPHY_USE_TENSORRT_RTX says so, imported when it is first used."""
    return lazy_import(tensorrt_module_and_version_string())
