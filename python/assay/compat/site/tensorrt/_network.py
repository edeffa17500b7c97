"""INetworkDefinition with what a network in this process can have beside the recorded: plugins in Python."""

import recorded.network
from recorded.errors import NotServedError

from ._plugin_types import IPluginV2Layer, IPluginV3Layer


class INetworkDefinition(recorded.network.INetworkDefinition):
    """A network."""

    def add_plugin_v2(self, inputs, plugin):
        from ._plugins import Plugin

        return IPluginV2Layer(self, list(inputs), Plugin(plugin))

    def add_plugin_v3(self, inputs, shape_inputs, plugin):
        from ._plugins import Plugin

        if len(shape_inputs):
            raise NotServedError("tensorrt.INetworkDefinition.add_plugin_v3: shape inputs of plugins in Python are not served; "
                                 "give them as inputs.")
        return IPluginV3Layer(self, list(inputs), Plugin(plugin))
