"""Runs PyTorch models: TorchScript (torch.jit.save) and exported programs (torch.export.save).

Options
    inputs   JSON, for TorchScript, which does not keep them: {"name": ["float32", [1, 3, 224, 224]], ...}; an extent may be
             null
    outputs  names of the outputs, with commas between them; the default is what an exported program calls them, and
             output_0, output_1, ... for TorchScript
    device   cpu (the default), cuda, ...
    threads  number of threads; 0: as PyTorch chooses
"""

import json
import warnings
import zipfile

import numpy as np
import torch


class PyTorchRunner:
    def __init__(self, model_path, inputs="", outputs="", device="cpu", threads="0"):
        if int(threads):
            torch.set_num_threads(int(threads))
        self._device = torch.device(device)
        declared = json.loads(inputs) if inputs else None
        names = [n.strip() for n in outputs.split(",")] if outputs else None
        kind = _kind(model_path)
        self._model = (_Exported if kind == "exported" else _TorchScript)(model_path, declared, names, self._device)

    def inputs(self):
        return self._model.inputs

    def outputs(self):
        return self._model.outputs

    def infer(self, feed_dict):
        tensors = {name: _to_torch(value).to(self._device) for name, value in feed_dict.items()}
        with torch.inference_mode():
            made = self._model(tensors)
        names = list(self._model.outputs)
        if len(made) != len(names):
            raise ValueError(f"the model gave {len(made)} outputs, and {len(names)} are named ({', '.join(names)}); "
                             "name as many with the option outputs")
        return dict(zip(names, made))


def _kind(path):
    """Both are zip archives, told apart by what is in them; a pickle is not loaded: it may run any code."""
    try:
        names = {n.split("/", 1)[-1] for n in zipfile.ZipFile(path).namelist()}
    except (zipfile.BadZipFile, OSError):
        names = set()
    if "constants.pkl" in names or any(n.startswith("code/") for n in names):
        return "script"
    if "archive_format" in names or any(n.startswith(("models/", "serialized_exported_program")) for n in names):
        return "exported"
    raise ValueError(f"{path} is neither TorchScript nor an exported program" +
                     ("; it holds pickled objects, as torch.save() writes them: export the module with torch.export.export() "
                      "and torch.export.save()" if "data.pkl" in names else ""))


class _Exported:
    def __init__(self, path, declared, names, device):
        program = torch.export.load(path)
        from torch.utils import _pytree

        self._tree = _pytree
        self._program, self._spec = program, program.call_spec.in_spec
        self._module = program.module().to(device)
        nodes = {n.name: n for n in program.graph.nodes}
        signature = program.graph_signature
        self.inputs = {n: _type(nodes[n].meta.get("val")) for n in signature.user_inputs}
        found = {str(n): _type(nodes[n].meta.get("val") if n in nodes else None) for n in signature.user_outputs}
        self.outputs = found if names is None else dict(zip(names, found.values())) if len(names) == len(found) else \
            {n: (None, None) for n in names}

    def __call__(self, tensors):
        args, kwargs = self._tree.tree_unflatten([tensors[n] for n in self.inputs], self._spec)
        return [x for x in self._tree.tree_leaves(self._module(*args, **kwargs)) if x is not None]


class _TorchScript:
    def __init__(self, path, declared, names, device):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that TorchScript is old
            self._module = torch.jit.load(path, map_location=device).eval()
        schema = self._module.forward.schema
        parameters = [a.name for a in schema.arguments if a.name != "self"]
        required = [a.name for a in schema.arguments if a.name != "self" and not a.has_default_value()]
        if declared is None:
            raise ValueError(f"TorchScript does not keep the types of its inputs ({', '.join(required)}); name them with the "
                             'option inputs, as in inputs={"' + (required or ["x"])[0] + '": ["float32", [1, 3, 224, 224]]}')
        for name in declared:
            if name not in parameters:
                raise ValueError(f"the model has no input {name!r}; it has {', '.join(parameters)}")
        for name in required:
            if name not in declared:
                raise ValueError(f"the option inputs says nothing of the input {name!r}")
        self.inputs = {name: (dtype, shape) for name, (dtype, shape) in declared.items()}
        self._names = names or _output_names(str(schema.returns[0].type))
        self.outputs = {name: (None, None) for name in self._names}

    def __call__(self, tensors):
        made = self._module(**tensors)
        if isinstance(made, dict):
            return [made[n] for n in self._names if n in made]
        return _flat(made)


def _flat(made):
    return [made] if isinstance(made, torch.Tensor) else [x for part in made for x in _flat(part)]


def _output_names(returns):
    """From the type that forward() returns."""
    if returns.startswith(("Dict", "List", "Optional")):
        raise ValueError(f"the model returns {returns}, which does not say which outputs there are; name them with the option "
                         "outputs")
    count = returns.count("Tensor")
    return [f"output_{i}" for i in range(count)]


def _type(value):
    if not isinstance(value, torch.Tensor):
        return (None, None)
    return (str(value.dtype).split(".")[-1], [d if isinstance(d, int) else str(d) for d in value.shape])


def _to_torch(array):
    """torch.from_numpy() knows no types of ml_dtypes."""
    name = array.dtype.name
    if array.dtype.kind == "V" and hasattr(torch, name):
        bits = np.int16 if array.dtype.itemsize == 2 else np.uint8
        return torch.from_numpy(array.view(bits)).view(getattr(torch, name))
    return torch.from_numpy(array)
