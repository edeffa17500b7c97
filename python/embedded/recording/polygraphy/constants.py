"""Constants that loaders take."""

DEFAULT_SHAPE_VALUE = 1
DEFAULT_SEED = 1
MARK_ALL = "mark-all"
TAB = " " * 4
