"""The log of this package: ``G_LOGGER``."""

from onnx_graphsurgeon.logger.logger import G_LOGGER, LogMode

__all__ = ["G_LOGGER", "LogMode"]
