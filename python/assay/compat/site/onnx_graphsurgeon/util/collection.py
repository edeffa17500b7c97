"""Python's garbage collector, kept out of the way while many objects are made that stay."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import Iterator


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """A ``with`` block in which no garbage is looked for: among objects that all stay that takes as long as making them.

    What was made is counted among the old objects then, which are looked through more rarely.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        if gc.get_freeze_count() == 0:
            gc.freeze()
            gc.unfreeze()
        gc.enable()
