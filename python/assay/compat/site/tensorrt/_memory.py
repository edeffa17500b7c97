"""IHostMemory."""

from recorded.enums import DataType


class IHostMemory(bytes):
    """Bytes of a plan or of a timing cache."""

    nbytes = property(len)
    dtype = property(lambda self: DataType.INT8)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def __repr__(self):
        return f"<tensorrt.IHostMemory of assay: {len(self)} bytes>"

    __str__ = __repr__
