"""The tools are those of the program `assay`, under the name `polygraphy`; here are the parts that packages extend it with."""

from polygraphy.tools._main import main  # noqa: F401
from polygraphy.tools.base import Tool  # noqa: F401
