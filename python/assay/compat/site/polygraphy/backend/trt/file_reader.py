"""Plans that are read while they are loaded."""

from polygraphy import util
from polygraphy.mod.trt_importer import lazy_import_trt

trt = lazy_import_trt()

__all__ = ["FileReader"]


def FileReader(filepath, BaseClass=None):
    """A stream reader over a file, for Runtime.deserialize_cuda_engine()."""
    base = BaseClass or getattr(trt, "IStreamReader", None) or trt.IStreamReaderV2

    class FileReaderClass(base):
        def __init__(self):
            base.__init__(self)
            self.filepath, self.mode, self.make_func = filepath, "rb", FileReader
            self.file = open(filepath, "rb")

        def read(self, size: int, stream=None) -> bytes:
            return self.file.read(size)

        def seek(self, offset: int, whence: int = 0) -> int:
            return self.file.seek(offset, int(whence))

        def free(self):
            self.file.close()

        def __enter__(self):
            return self

        def __exit__(self, exc_type, exc_value, traceback):
            self.free()

        def __repr__(self):
            return util.make_repr("FileReader", filepath, BaseClass=BaseClass)[0]

    return FileReaderClass()
