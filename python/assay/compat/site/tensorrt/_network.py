"""INetworkDefinition with what a network in this process can have beside the recorded: plugins in Python."""

import recorded.network
from recorded.errors import NotServedError
from recorded.layer import ILayer

from ._plugin_types import IPluginV2Layer, IPluginV3Layer


def _layer_class(name):
    """A kind of layer that networks here do not have: its name, to be asked for."""
    return type(name, (ILayer,), {"__module__": "tensorrt", "__doc__": "A layer that no network here has."})


IDistCollectiveLayer, IDynamicQuantizeLayer, IKVCacheUpdateLayer, IMoELayer, IRaggedSoftMaxLayer, IRNNv2Layer = map(
    _layer_class, ("IDistCollectiveLayer", "IDynamicQuantizeLayer", "IKVCacheUpdateLayer", "IMoELayer", "IRaggedSoftMaxLayer",
                   "IRNNv2Layer"))


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
