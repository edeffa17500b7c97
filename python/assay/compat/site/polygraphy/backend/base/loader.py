"""What loaders derive from."""

from polygraphy import func


class BaseLoader:
    """Something that makes an object when it is called, and may be called again. Derive, and define call_impl()."""

    def call_impl(self, *args, **kwargs):
        """Makes the object."""
        raise NotImplementedError(f"{type(self).__name__} has no call_impl()")

    @func.constantmethod
    def __call__(self, *args, **kwargs):
        return self.call_impl(*args, **kwargs)
