"""Everything again under tensorrt.tensorrt, where some scripts look for it."""

import sys as _sys

_package = _sys.modules[__package__]
globals().update({n: v for n, v in vars(_package).items() if not n.startswith("__")})


def __getattr__(name):
    return getattr(_package, name)
