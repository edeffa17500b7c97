"""Calibrator: data for int8 calibration."""

import os

import tensorrt as trt


def Calibrator(data_loader, cache=None, BaseClass=None, batch_size=None, quantile=None, regression_cutoff=None, algo=None):
    """An object of a calibrator's class, with the cache of a file. The data are not asked for: docs/guide/network-scripts.md."""
    base = BaseClass or trt.IInt8EntropyCalibrator2

    class CalibratorClass(base):
        """The data and the cache."""

        def __init__(self):
            base.__init__(self)
            self.data_loader, self.cache, self.batch_size = data_loader, cache, batch_size or 1

        def get_batch_size(self):
            return self.batch_size

        def get_algorithm(self):
            return algo if algo is not None else base.get_algorithm(self)

        def read_calibration_cache(self):
            if self.cache is None:
                return None
            if hasattr(self.cache, "read"):
                data = self.cache.read()
                return data if isinstance(data, bytes) else data.encode()
            if not os.path.exists(self.cache):
                return None
            with open(self.cache, "rb") as file:
                return file.read() or None

        def set_input_metadata(self, input_metadata):
            self.data_loader.input_metadata = input_metadata

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

    CalibratorClass.__name__ = "Calibrator"
    return CalibratorClass()
