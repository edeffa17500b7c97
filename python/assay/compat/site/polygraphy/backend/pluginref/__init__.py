from polygraphy.backend.pluginref.runner import PluginRefRunner  # noqa: F401
