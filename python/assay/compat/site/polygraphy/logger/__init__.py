from polygraphy.logger.logger import G_LOGGER, LogMode  # noqa: F401
