"""What loaders throw."""

from recorded.errors import RecordingError


class PolygraphyException(RecordingError):
    """A request that cannot be met."""


class PolygraphyInternalException(Exception):
    """Not thrown here."""


class DataTypeConversionException(PolygraphyException):
    """A type that another library lacks."""
