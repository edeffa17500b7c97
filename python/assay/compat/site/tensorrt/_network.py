"""INetworkDefinition with what a network in this process can have beside the recorded: plugins in Python."""

import recorded.network


class INetworkDefinition(recorded.network.INetworkDefinition):
    """A network."""

    def __init__(self, builder=None, flags=0):
        super().__init__(builder, flags)
        self._plugins = []
