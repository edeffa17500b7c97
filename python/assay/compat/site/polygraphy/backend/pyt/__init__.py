from polygraphy.backend.pyt.runner import PytRunner  # noqa: F401
