"""What runners derive from."""

import copy
import time
from collections import defaultdict

from polygraphy import config, func, util
from polygraphy.backend.base.util import check_inputs
from polygraphy.datatype import DataType
from polygraphy.logger import G_LOGGER, LogMode


class BaseRunner:
    """Something that runs a model, within a block or between activate() and deactivate(). Derive, and define activate_impl(),
    get_input_metadata_impl(), infer_impl(), which sets `inference_time` in seconds, and deactivate_impl(), which
    leaves the runner as it was before activate_impl()."""

    RUNNER_COUNTS = defaultdict(int)

    def __init__(self, name=None, prefix=None):
        prefix = util.default(prefix, "Runner")
        if name is None:
            name = f"{prefix}-N{BaseRunner.RUNNER_COUNTS[prefix]}-{time.strftime('%x')}-{time.strftime('%X')}"
            BaseRunner.RUNNER_COUNTS[prefix] += 1
        self.name = name
        self.inference_time = None
        self.is_active = False

    def __enter__(self):
        self.activate()
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        self.deactivate()

    def _needs_to_be_active(self, method):
        if not self.is_active:
            G_LOGGER.critical(f"{self.name:35} | Must be activated prior to calling {method}()")

    def activate_impl(self):
        pass

    def activate(self):
        """Makes it ready to run."""
        if self.is_active:
            G_LOGGER.warning(f"{self.name:35} | Already active; will not activate again.")
            return
        if config.INTERNAL_CORRECTNESS_CHECKS:
            self._state_before = copy.copy(vars(self))
        self.activate_impl()
        self.is_active = True

    def get_input_metadata_impl(self):
        raise NotImplementedError(f"{type(self).__name__} has no get_input_metadata_impl()")

    @func.constantmethod
    def get_input_metadata(self, use_numpy_dtypes=None):
        """Types and shapes of inputs by name. The types are NumPy's unless `use_numpy_dtypes` is False."""
        self._needs_to_be_active("get_input_metadata")
        metadata = copy.deepcopy(self.get_input_metadata_impl())  # which may be the user's
        for meta in metadata.values():
            meta.dtype = meta.dtype  # as a DataType, whoever made it
            if util.default(use_numpy_dtypes, True) and meta.dtype is not None:
                meta._dtype = DataType.to_dtype(meta.dtype, "numpy")
        return metadata

    def infer_impl(self, feed_dict):
        raise NotImplementedError(f"{type(self).__name__} has no infer_impl()")

    def infer(self, feed_dict, check_inputs=True, *args, **kwargs):
        """Outputs by name for inputs by name. What is returned may be used again by the next call."""
        self._needs_to_be_active("infer")
        if check_inputs:
            metadata = self.get_input_metadata(use_numpy_dtypes=False)
            G_LOGGER.verbose(lambda: f"{self.name:35} | Input metadata is: {metadata}", mode=LogMode.ONCE)
            _check_inputs(feed_dict, metadata)
        return self.infer_impl(feed_dict, *args, **kwargs)

    @func.constantmethod
    def last_inference_time(self):
        """How long the last infer() took, in seconds."""
        if self.inference_time is None:
            text = f"{self.name:35} | `inference_time` was not set; infer_impl() has to, for times to be right."
            G_LOGGER.internal_error(text)
            G_LOGGER.warning(text, mode=LogMode.ONCE)
        return self.inference_time

    def deactivate_impl(self):
        pass

    def deactivate(self):
        """Gives back what activate() took."""
        if not self.is_active:
            G_LOGGER.warning(f"{self.name:35} | Not active; will not deactivate.")
            return
        self.inference_time = None
        self.is_active = None
        try:
            self.deactivate_impl()
        finally:
            self.is_active = False
        before = vars(self).pop("_state_before", None)
        if before is not None and before != vars(self):
            G_LOGGER.internal_error(f"{self.name} is not as it was before it was activated:\nBefore: {before}\nAfter: {vars(self)}")

    def __del__(self):
        if getattr(self, "is_active", False):
            print(f"[W] {self.name:35} | Was activated but never deactivated; what it holds may never be given back.")


_check_inputs = check_inputs
