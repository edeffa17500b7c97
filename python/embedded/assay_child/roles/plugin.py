"""A plugin's pattern.py, which works on onnx_graphsurgeon's graphs: where it fits in a model, and how it replaces what fits."""

import sys

from .. import scripts, values
from ..failures import ScriptError


def _surgeon():
    """The modules onnx and onnx_graphsurgeon."""
    try:
        import onnx
        import onnx_graphsurgeon
    except ImportError as e:
        raise ScriptError(f"a pattern.py works on the graphs of onnx_graphsurgeon, which {sys.executable} does not have: {e}",
                          remedy=f"Install it (`{sys.executable} -m pip install onnx onnx_graphsurgeon`), or name another "
                                 "interpreter in ASSAY_PYTHON.") from None
    return onnx, onnx_graphsurgeon


class Role:
    def open(self, path, function):
        self.script_path = path
        self._script = scripts.Script(path)

    def match(self, model):
        """Name, operator and domain of the node, and its instances in the model: names of tensors, and attributes."""
        onnx, gs = _surgeon()
        find = scripts.callable_of(self._script.find("get_matching_subgraphs", "function"))
        found = find(gs.import_onnx(onnx.load(model)))
        place = scripts.place_of(find, self.script_path)
        instances = [self._instance(x, i, place) for i, x in enumerate(found or [])]
        return {**(self._metadata() if instances else {"name": "", "op": "", "domain": ""}), "instances": instances}

    def _metadata(self):
        describe = scripts.callable_of(self._script.find("get_plugin_metadata", "function"))
        made = describe()
        try:
            return {"name": str(made["name"]), "op": str(made["op"]), "domain": str(made.get("domain") or "")}
        except (TypeError, KeyError, AttributeError):
            raise ScriptError("get_plugin_metadata gave no dictionary with 'name' and 'op'",
                              place=scripts.place_of(describe, self.script_path)) from None

    def _instance(self, made, number, place):
        what = f"instance {number} of get_matching_subgraphs"
        if not hasattr(made, "get"):
            raise ScriptError(f"{what} is {values.kind(made)}; it must be a dictionary with 'inputs' and 'outputs'", place=place)
        instance = {}
        for key in ("inputs", "outputs"):
            names = made.get(key)
            if names is None or isinstance(names, str) or not all(isinstance(n, str) for n in names):
                raise ScriptError(f"{what} has no list of names under '{key}'", place=place)
            instance[key] = list(names)
        try:
            instance["attributes"] = _plain(dict(made.get("attributes") or {}))
        except (TypeError, ValueError) as e:
            raise ScriptError(f"the attributes of {what} are not numbers, texts and lists of them: {e}", place=place) from None
        return instance

    def has_replacement(self):
        return hasattr(self._script.module(), "replace_with_plugin")

    def replace(self, model, output, op, instances):
        """Has the script's own function replace instance after instance. Returns how many it says it replaced."""
        onnx, gs = _surgeon()
        function = self._script.find("replace_with_plugin", "function")
        graph = gs.import_onnx(onnx.load(model))
        count = 0
        for number, instance in enumerate(instances):
            tensors = graph.tensors()
            arguments = {key: [self._tensor(tensors, name, number) for name in instance[key]] for key in ("inputs", "outputs")}
            if function(graph=graph, input_tensors=arguments["inputs"], output_tensors=arguments["outputs"],
                        attrs=instance["attributes"], op=op):
                count += 1
        onnx.save(gs.export_onnx(graph), output)
        return count

    @staticmethod
    def _tensor(tensors, name, number):
        if name not in tensors:
            raise ScriptError(f"instance {number} names the tensor {name!r}, which the model does not have")
        return tensors[name]


def _plain(value):
    """Numbers, texts, lists and dictionaries; NumPy's numbers and arrays as such."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(x) for x in value]
    if isinstance(value, dict) and all(isinstance(k, str) for k in value):
        return {k: _plain(x) for k, x in value.items()}
    raise TypeError(f"{values.kind(value)} is none of them")
