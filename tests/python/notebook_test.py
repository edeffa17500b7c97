"""The notebooks of examples/notebooks, run from beginning to end in a fresh folder.

    notebook_test.py PACKAGE NOTEBOOK ...

PACKAGE: the folder that holds the package assay, whose program stands for the one that pip puts on PATH. Every code cell has to
end without an error; what the cells show is in EXPECTED, so that a notebook that finds nothing fails, too.
"""

import os
import sys
import tempfile

# By notebook: (what a cell contains, what it has to show).
EXPECTED = {
    "daily.ipynb": [
        ("assay.load(", ["<table", "Conv", "initializers"]),
        ("assay.check(", ["Findings: valid"]),
        ('["engine", "onnxrt"], data=5', ["PASSED", "5/5"]),
        ("class Wrong", ["FAILED", "0/1", "font-weight:bold"]),
        ("trace=True", ["WRONG: wrong at", "rounding only"]),
        ("verdict.makers", ["Relu", "is_certain"]),
        ("int8=True", ["PASSED", "4/4"]),
        ("run_with_times", ["share", "100.0 %|%"]),
        (".save(", []),
    ],
    "data-sets.ipynb": [
        ("measure_cost=True", ["<table", "of the error"]),
        ("save_worst=", ["Evaluation of 200 of 200 samples", "top1 of engine", "0.9 [", "agreement of trt", "sqnr of trt"]),
        (".worst ", ["[("]),
        ("reversed(parts)", ["True"]),
        ("margin.py:margin", ["Evaluation of 50 of 50 samples", "margin of trt"]),
    ],
}
WRITTEN = {
    "daily.ipynb": ["smaller.onnx", "model.plan", "outputs.npz"],
    "data-sets.ipynb": ["data.npz", "scales.txt", "worst"],
}


def shown_by(cell):
    texts = []
    for output in cell.outputs:
        texts.append(output.get("text", ""))
        texts += output.get("data", {}).values()
    return "".join(texts)


def problems_of(path, package, folder):
    import nbclient
    import nbformat

    name = os.path.basename(path)
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    kept = [cell for cell in notebook.cells if cell.cell_type == "code" and (cell.outputs or cell.execution_count)]
    if kept:
        return ["it is stored with outputs, which say nothing about the next version"]
    os.environ["PYTHONPATH"] = os.path.abspath(package)
    os.environ["PATH"] = os.path.join(os.path.abspath(package), "assay", "bin") + os.pathsep + os.environ["PATH"]
    try:
        nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": folder}}, kernel_name="python3").execute()
    except nbclient.exceptions.CellExecutionError as error:
        return [str(error)]
    cells = {cell.source: shown_by(cell) for cell in notebook.cells if cell.cell_type == "code"}
    problems = []
    for part, texts in EXPECTED[name]:
        found = [shown for source, shown in cells.items() if part in source]
        if not found:
            problems.append(f"no cell has {part!r}")
        for text in texts if found else ():
            if not any(choice in found[0] for choice in text.split("|")):
                problems.append(f"the cell with {part!r} does not show {text!r}, but: {found[0][:2000]}")
    return problems + [f"{file} was not written" for file in WRITTEN[name] if not os.path.exists(os.path.join(folder, file))]


def main():
    if sys.argv[1] == "--skip":
        print("skipped:", sys.argv[2])
        return 77
    try:
        import ipykernel  # noqa: F401
        import nbclient  # noqa: F401
        import numpy  # noqa: F401
        import onnxruntime  # noqa: F401
    except ImportError as error:
        print(f"skipped: no notebook was run: {error}; `make test` installs it")
        return 77
    failed = False
    for path in sys.argv[2:]:
        with tempfile.TemporaryDirectory() as folder:
            problems = problems_of(path, sys.argv[1], folder)
        for problem in problems:
            print(f"{os.path.basename(path)}: {problem}")
        failed = failed or bool(problems)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
