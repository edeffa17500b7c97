"""What network and configuration scripts record: `import tensorrt` and `import polygraphy` in a script give the packages
beside this one, which write calls down; here they become an ONNX model and JSON."""

from .config_json import config_from_json, config_to_json
from .errors import NotServedError, RecordingError
from .scripts import (OnnxBytes, ScriptError, install, run_config_postprocess_script, run_config_script,
                      run_network_postprocess_script, run_network_script)


def to_onnx(network):
    """Bytes of the ONNX model of a tensorrt.INetworkDefinition. Throws RecordingError."""
    from .exporting import to_onnx as export
    return export(network)[0]


def settings(network):
    """What a network asks for that its ONNX model does not say. Throws RecordingError."""
    from .config_json import network_settings
    from .exporting import to_onnx as export
    return network_settings(network, export(network)[1])
