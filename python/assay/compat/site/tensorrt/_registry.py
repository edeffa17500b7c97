"""The plugin registry: creators that scripts register."""

from recorded.errors import NotServedError
from recorded.layer import Served

from ._interfaces import IVersionedInterface  # noqa: F401


class IPluginRegistry(Served):
    """Creators by name, version and namespace."""

    def __init__(self):
        self._creators, self._resources = {}, {}
        self._search, self._error_recorder = True, None

    error_recorder = property(lambda self: self._error_recorder, lambda self, v: setattr(self, "_error_recorder", v))
    parent_search_enabled = property(lambda self: self._search, lambda self, v: setattr(self, "_search", bool(v)))
    all_creators = property(lambda self: list(self._creators.values()))
    all_creators_recursive = all_creators
    plugin_creator_list = all_creators

    def register_creator(self, creator, plugin_namespace=""):
        key = (creator.name, str(creator.plugin_version), plugin_namespace)
        if key in self._creators:
            return False
        self._creators[key] = creator
        return True

    def deregister_creator(self, creator):
        for key, known in list(self._creators.items()):
            if known is creator:
                del self._creators[key]
                return True
        return False

    def get_creator(self, type, version, plugin_namespace=""):
        return self._creators.get((type, str(version), plugin_namespace))

    get_plugin_creator = get_creator

    def find(self, type, version=None, plugin_namespace=None):
        """The first that fits what is said."""
        for (name, v, n), creator in self._creators.items():
            if name == type and version in (None, v) and plugin_namespace in (None, n):
                return creator
        return None

    def load_library(self, plugin_path):
        raise NotServedError(f"tensorrt.IPluginRegistry.load_library({plugin_path!r}): a library of plugins for NVIDIA's devices "
                             "cannot be run here; a plugin in Python whose enqueue() works on host memory can.")

    def deregister_library(self, handle):
        return None

    def acquire_plugin_resource(self, key, resource):
        if key not in self._resources:
            self._resources[key] = [resource.clone(), 0]
        self._resources[key][1] += 1
        return self._resources[key][0]

    def release_plugin_resource(self, key):
        entry = self._resources.get(key)
        if entry is None:
            return -1
        entry[1] -= 1
        if entry[1] == 0:
            del self._resources[key]
            entry[0].release()
        return 0


_REGISTRY = IPluginRegistry()


def get_plugin_registry():
    return _REGISTRY
