"""Constants that loaders and files share."""

from polygraphy.config import AUTOINSTALL_DEPS, INTERNAL_CORRECTNESS_CHECKS  # noqa: F401

DEFAULT_SHAPE_VALUE = 1
"""What an open extent becomes where nobody says."""
DEFAULT_SEED = 1
TAB = "    "
MARK_ALL = "mark-all"
"""In place of a list of outputs: every tensor."""
LEGACY_TYPE_MARKER = "polygraphy_serialized_json_type"
TYPE_MARKER = "polygraphy_class"
