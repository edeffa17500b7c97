"""The one call from here into assay's native module."""

from __future__ import annotations

from typing import Dict, List

import numpy as np


def evaluate(model: bytes, feeds: Dict[str, np.ndarray], names: List[str]) -> List[np.ndarray]:
    """Computes tensors of a model.

    model: a serialized ModelProto.
    feeds: arrays of its inputs by name.
    names: the tensors that are wanted.

    An ImportError where assay's native module is missing; whatever that raises for a model it cannot compute.
    """
    try:
        from assay import _native
    except ImportError as error:
        raise ImportError(
            "constants are computed by assay's native module, which this installation lacks ({:}): "
            "python3 -m pip install --force-reinstall assay".format(error)
        ) from error
    return list(_native.evaluate(model, feeds, names))
