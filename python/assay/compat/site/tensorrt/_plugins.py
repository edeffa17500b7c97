"""Networks in parts."""

from recorded.errors import RecordingError

from . import _building


class Whole:
    """A network that the library runs as one."""

    debug_tensors = ()

    def __init__(self, engine, debug_tensors=()):
        self._engine = engine
        self.native_engines = [engine]
        self.debug_tensors = tuple(debug_tensors)
        self.inputs, self.outputs = engine.inputs, engine.outputs
        self.profiles, self.name = engine.profiles, engine.name

    is_refittable = property(lambda self: self._engine.is_refittable)
    device_memory_size = property(lambda self: self._engine.device_memory_size)

    def layers(self, json):
        return self._engine.layers(json)

    def information(self, json):
        return self._engine.information(json)

    def create_context(self):
        return self._engine.create_context()

    def plan(self):
        return self._engine.serialize()


def build_parts(builder, network, config):
    data, settings = _building.exported(network)
    if network._parsed is not None and not data:
        raise RecordingError("The network is empty.")
    folder = network._parsed.external_data_dir if network._parsed else None
    chosen = _building.settings_of(config, network)
    monitor = _building.Monitoring(config.progress_monitor) if config.progress_monitor is not None else None
    engine = builder._build_native(data, folder, config, chosen, monitor)
    if monitor is not None:
        monitor.finish()
    if chosen.get("algorithm_selector") is not None:
        chosen["algorithm_selector"].finish()
    return Whole(engine, settings["debug_tensors"])


def read_plan(plan):
    from assay._engine import default_runtime
    from assay._library import follow_level

    follow_level()
    return Whole(default_runtime()._native.deserialize(plan))


def get_plugin_registry():
    from recorded.builder import get_plugin_registry as registry

    return registry()
