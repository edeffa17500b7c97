"""Runs a user's network and configuration scripts."""

import importlib.util
import os
import sys

from .config_json import config_from_json, config_to_json, network_settings
from .errors import script_place

_OURS = ("tensorrt", "polygraphy")


class ScriptError(Exception):
    """A script that cannot be used. `path`, `line` (None where there is none), `function` and `reason` are attributes."""

    def __init__(self, path, function, line, reason):
        self.path, self.function, self.line, self.reason = path, function, line, reason
        where = f"{path}:{line}" if line else path
        Exception.__init__(self, f"{where}{f', in {function}' if function else ''}: {reason}")


class OnnxBytes(bytes):
    """An ONNX model, with `settings` (what it does not say: docs/guide/network-scripts.md) and `external_data_dir`, the folder
    beside which its external data lie, or None."""
    settings, external_data_dir = None, None


def install():
    """Lets `import tensorrt` and `import polygraphy` find these packages, whatever else is installed."""
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if sys.path[:1] != [here]:
        sys.path[:] = [here] + [p for p in sys.path if p != here]
    for name in list(sys.modules):
        if name.split(".")[0] in _OURS:
            origin = getattr(sys.modules[name], "__file__", None) or ""
            if not origin.startswith(here):
                del sys.modules[name]


def load_function(path, function):
    """A function of a script; a class is made into an object. Throws ScriptError."""
    install()
    path = os.path.abspath(path)
    if not os.path.isfile(path):
        raise ScriptError(path, None, None, "there is no such script.")
    folder = os.path.dirname(path)
    if folder not in sys.path:
        sys.path.insert(1, folder)
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ScriptError(path, None, None, "this is no Python script; its name should end in .py.")
    module = importlib.util.module_from_spec(spec)
    before = sys.modules.get(name)
    sys.modules[name] = module
    try:
        guarded(path, None, _execute, module, path)
    finally:
        if before is not None:
            sys.modules[name] = before
        else:
            sys.modules.pop(name, None)
    found = getattr(module, function, None)
    if found is None:
        listed = [
            n for n, v in vars(module).items() if callable(v) and not n.startswith("_") and getattr(v, "__module__", name) == name
        ]
        raise ScriptError(path, None, None, f"there is no function '{function}' in it; it has "
                          + (", ".join(listed) if listed else "none") + ". Name one as FILE:FUNCTION.")
    if isinstance(found, type):
        found = guarded(path, function, found)
    if not callable(found):
        raise ScriptError(path, function, None, f"'{function}' is {type(found).__name__}, and no function.")
    return found


def _execute(module, path):
    """Without bytecode files, which do not notice a script that changed within a second."""
    with open(path, "rb") as file:
        exec(compile(file.read(), path, "exec"), module.__dict__)


def guarded(path, function, call, *args, **kwargs):
    """call(*args); what it throws becomes a ScriptError that says where in the script."""
    try:
        return call(*args, **kwargs)
    except ScriptError:
        raise
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        line, inner = script_place(error, path)
        name = type(error).__name__
        reason = f"{name}: {error.msg if isinstance(error, SyntaxError) else error}"
        if isinstance(error, ModuleNotFoundError) and (error.name or "").split(".")[0] in _OURS:
            reason = f"{name}: {error.name} is not served by assay in a script."
        if isinstance(error, SystemExit):
            reason = f"it ended by sys.exit({error.code!r}), and should return instead."
        text = inner if inner and inner != "<module>" else function
        raise ScriptError(os.path.abspath(path), text, line, reason) from error


def _network_of(path, function, result):
    from .network import INetworkDefinition
    for item in result if isinstance(result, (tuple, list)) else [result]:
        if isinstance(item, INetworkDefinition):
            return item
    raise ScriptError(
        os.path.abspath(path), function, None, f"it returned {_what(result)}; a network script returns (builder, network) or "
        "(builder, network, parser), as a function under @func.extend(CreateNetwork()) does.")


def _what(value):
    if isinstance(value, (tuple, list)):
        return "(" + ", ".join(type(v).__name__ for v in value) + ")"
    return "nothing" if value is None else f"a value of type {type(value).__name__}"


def _exported(path, function, network):
    from .exporting import to_onnx
    data, exporter = guarded(path, function, to_onnx, network)
    result = OnnxBytes(data)
    result.settings = network_settings(network, exporter)
    result.external_data_dir = network._parsed.external_data_dir if network._parsed else None
    return result


def _parsed(network_onnx, external_data_dir):
    from .builder import Builder, Logger
    from .parsed import load
    builder = Builder(Logger())
    network = builder.create_network()
    if network_onnx is not None:
        load(network, network_onnx, external_data_dir)
    return builder, network


def run_network_script(path, function_name="load_network"):
    """The network that a script makes, as OnnxBytes. The function is called without arguments. Throws ScriptError."""
    result = guarded(path, function_name, load_function(path, function_name))
    return _exported(path, function_name, _network_of(path, function_name, result))


def run_network_postprocess_script(path, function_name="postprocess", network_onnx=None, external_data_dir=None):
    """A network that a script changes, as OnnxBytes. The function gets it as `network`. Throws ScriptError."""
    function = load_function(path, function_name)
    _, network = _parsed(network_onnx, external_data_dir)
    guarded(path, function_name, function, network=network)
    return _exported(path, function_name, network)


def _config_of(path, function, result):
    from .config import IBuilderConfig
    if not isinstance(result, IBuilderConfig):
        raise ScriptError(os.path.abspath(path), function, None, f"it returned {_what(result)}; a configuration script returns a "
                          "tensorrt.IBuilderConfig, as a function under @func.extend(CreateConfig()) does.")
    return config_to_json(result)


def run_config_script(path, function_name="load_config", network_onnx=None, external_data_dir=None):
    """The configuration that a script makes for a network, as a dictionary. The function is called with the builder and the
    network. Throws ScriptError."""
    function = load_function(path, function_name)
    builder, network = _parsed(network_onnx, external_data_dir)
    return _config_of(path, function_name, guarded(path, function_name, function, builder, network))


def run_config_postprocess_script(path,
                                  function_name="postprocess_config",
                                  network_onnx=None,
                                  config=None,
                                  external_data_dir=None):
    """A configuration that a script changes, as a dictionary; `config` is what config_to_json() gives, or None. The function
    gets `builder`, `network` and `config`. Throws ScriptError."""
    function = load_function(path, function_name)
    builder, network = _parsed(network_onnx, external_data_dir)
    made = builder.create_builder_config()
    if config:
        config_from_json(made, config)
    guarded(path, function_name, function, builder=builder, network=network, config=made)
    result = config_to_json(made)
    result["unused"] = list(dict.fromkeys((config or {}).get("unused", []) + result["unused"]))
    return result
