from polygraphy.exception.exception import (  # noqa: F401
    DataTypeConversionException, PolygraphyException, PolygraphyInternalException)
