from polygraphy.func.func import constantmethod, extend  # noqa: F401
