"""The exception that this package raises for what it refuses itself."""

__all__ = ["OnnxGraphSurgeonException"]


class OnnxGraphSurgeonException(Exception):
    """A graph, a tensor or an argument that cannot be used; the message says which, and why."""
