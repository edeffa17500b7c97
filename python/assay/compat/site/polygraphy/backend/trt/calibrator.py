"""Calibrators that take their data from a data loader."""

import contextlib
import copy
from collections import OrderedDict

from polygraphy import util
from polygraphy.backend.base import util as base_util
from polygraphy.backend.trt import util as trt_util
from polygraphy.datatype import DataType
from polygraphy.exception import PolygraphyException
from polygraphy.logger import G_LOGGER, LogMode
from polygraphy.mod.trt_importer import lazy_import_trt

trt = lazy_import_trt()

__all__ = ["Calibrator"]

_INDEX_TYPES = (DataType.FLOAT32, DataType.INT32, DataType.INT64, DataType.BOOL)


def Calibrator(data_loader, cache=None, BaseClass=None, batch_size=None, quantile=None, regression_cutoff=None, algo=None):
    """A calibrator over a data loader, an iterable of arrays by name. `cache`: a path or open file for what it finds;
    `BaseClass`: which of TensorRT's calibrators (IInt8EntropyCalibrator2); `quantile` and `regression_cutoff`: of the
    IInt8LegacyCalibrator; `algo`: of the IInt8Calibrator."""
    base = util.default(BaseClass, trt.IInt8EntropyCalibrator2)

    class CalibratorClass(base):
        def __init__(self):
            base.__init__(self)
            self.data_loader, self._cache = data_loader, cache
            self.batch_size = util.default(batch_size, 1)
            self.device_buffers = OrderedDict()
            self.input_metadata = None
            self.is_polygraphy_calibrator, self.make_func = True, Calibrator
            self.reset()

        def set_input_metadata(self, input_metadata):
            """What its data are checked with; the data loader is told, too."""
            metadata = copy.deepcopy(input_metadata)
            for name, meta in ({} if metadata is None else metadata).items():
                if meta.dtype not in _INDEX_TYPES:
                    G_LOGGER.warning(f"Input: {name} has datatype: {meta.dtype}, but calibration takes float32; that is what data loaders are asked for.")
                    meta.dtype = DataType.FLOAT32
            self.input_metadata = metadata
            if metadata is not None:
                with contextlib.suppress(AttributeError):
                    self.data_loader.input_metadata = metadata

        def reset(self):
            """Begins again with the data."""
            self.data_loader_iter = iter(self.data_loader)
            self.num_batches = 0
            self.cache_contents = None

        def get_batch_size(self):
            return self.batch_size

        def _next(self, names):
            arrays = next(self.data_loader_iter, None)
            if arrays is None:
                if not self.num_batches:
                    G_LOGGER.critical("Calibrator data loader provided no data. A generator has data once; a calibrator that is used again needs a "
                                      "data loader that can begin again.")
                return None
            self.num_batches += 1
            if self.input_metadata is not None:
                base_util.check_inputs(arrays, self.input_metadata)
            return [a if isinstance(a, int) else trt_util._get_array_on_gpu(a, name, self.device_buffers)
                    for name, a in ((name, arrays[name]) for name in names)]

        def get_batch(self, names):
            """Addresses on the device; None: there are no more."""
            pointers = None
            with contextlib.suppress(PolygraphyException):  # was said; without data the build fails
                pointers = self._next(names)
            if pointers is None:
                self.free()
            return pointers

        def read_calibration_cache(self):
            if self.cache_contents is None and self._cache is not None and util.get_file_size(self._cache):
                try:
                    self.cache_contents = util.load_file(self._cache, description="calibration cache") or None
                except Exception as error:
                    G_LOGGER.error(f"Could not read from calibration cache: {self._cache}\nNote: Error was: {error}")
            elif self.cache_contents is None and self._cache is not None:
                G_LOGGER.verbose("The calibration cache is empty; calibration is run.", mode=LogMode.ONCE)
            return self.cache_contents

        def write_calibration_cache(self, cache):
            self.cache_contents = bytes(cache)
            if self._cache is not None:
                try:
                    util.save_file(self.cache_contents, self._cache, description="calibration cache")
                except Exception as error:
                    G_LOGGER.error(f"Could not write to calibration cache: {self._cache}.\nNote: Error was: {error}")

        def free(self):
            """Gives back the device's memory."""
            for buffer in self.device_buffers.values():
                buffer.free()

        def __enter__(self):
            return self

        def __exit__(self, exc_type, exc_value, traceback):
            self.free()

        def __repr__(self):
            return util.make_repr("Calibrator", data_loader, cache=cache, BaseClass=BaseClass, batch_size=batch_size, quantile=quantile,
                                  regression_cutoff=regression_cutoff, algo=algo)[0]

    if base is trt.IInt8LegacyCalibrator:
        CalibratorClass.get_quantile = lambda self: util.default(quantile, 0.5)
        CalibratorClass.get_regression_cutoff = lambda self: util.default(regression_cutoff, 0.5)
        CalibratorClass.read_histogram_cache = lambda self, length: None
        CalibratorClass.write_histogram_cache = lambda self, ptr, length: None
    if base is trt.IInt8Calibrator:
        CalibratorClass.get_algorithm = lambda self: util.default(algo, trt.CalibrationAlgoType.ENTROPY_CALIBRATION_2)
    return CalibratorClass()
