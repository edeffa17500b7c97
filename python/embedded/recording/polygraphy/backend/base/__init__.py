"""What loaders derive from."""

from recorded.refusal import refuser


class BaseLoader:
    """An object that makes something when it is called; derive and define call_impl()."""

    def call_impl(self, *args, **kwargs):
        raise NotImplementedError(f"{type(self).__name__} must define call_impl().")

    def __call__(self, *args, **kwargs):
        return self.call_impl(*args, **kwargs)


def value_or_call(item, *args):
    """(what a loader gives, or the object itself; whether it was called)"""
    return (item(*args), True) if callable(item) else (item, False)


__getattr__ = refuser("polygraphy.backend.base", {"BaseRunner": " A runner of your own: --runner-script."})
