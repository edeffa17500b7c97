from polygraphy.common.struct import FormattedArray, TensorMetadata  # noqa: F401
from polygraphy.exception import DataTypeConversionException, PolygraphyException, PolygraphyInternalException  # noqa: F401
