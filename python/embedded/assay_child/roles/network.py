"""Scripts that make networks and configurations: what they do is recorded (recording/), and handed back as ONNX and settings."""

import os
import sys

from ..failures import ScriptError


def _recorded():
    archive = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    folder = os.path.join(archive, "recording")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    import recorded
    return recorded


def _called(run):
    """What `run` returns; an error of the script's with its place."""
    recorded = _recorded()
    try:
        return run(recorded)
    except recorded.ScriptError as e:
        raise ScriptError(e.reason, place=(e.path, e.line or 0, e.function or "")) from e


def _read(path):
    if not path:
        return None
    with open(path, "rb") as file:
        return file.read()


class Role:
    def open(self, path, function):
        self.script_path, self._function = path, function

    def build(self, output):
        """Writes the network to the file `output`; returns its settings."""
        network = _called(lambda r: r.run_network_script(self.script_path, self._function))
        return self._write(network, output)

    def postprocess(self, network, output):
        """The same for a network in a file, which the script changes."""
        changed = _called(lambda r: r.run_network_postprocess_script(self.script_path, self._function, _read(network), None))
        return self._write(changed, output)

    def configure(self, network):
        """The configuration for the network in a file."""
        return _called(lambda r: r.run_config_script(self.script_path, self._function, _read(network)))

    def postprocess_config(self, network, config):
        return _called(lambda r: r.run_config_postprocess_script(self.script_path, self._function, _read(network), config))

    @staticmethod
    def _write(network, output):
        with open(output, "wb") as file:
            file.write(network)
        return {"external_data_dir": network.external_data_dir or "", "settings": network.settings or {}}
