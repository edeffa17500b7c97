"""What is thrown."""


class PolygraphyException(Exception):
    """Something that was asked for cannot be done; G_LOGGER.critical() throws it."""


class PolygraphyInternalException(Exception):
    """A check of POLYGRAPHY_INTERNAL_CORRECTNESS_CHECKS failed; G_LOGGER.internal_error() throws it."""


class DataTypeConversionException(PolygraphyException):
    """A data type has no counterpart in another package."""
