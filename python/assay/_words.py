"""Remedies in the words of this package: the library's keys, and sentences that name its arguments and functions. A key
that is missing here keeps the library's words, which name no interface."""

from __future__ import annotations

WORDS: dict[str, str] = {
    "memory-limit": "Give assay.run a higher memory_limit, or smaller inputs.",
    "rebuild-plan": "Build it again on this machine: assay.build(model).save(file).",
    "external-data-dir": "Name the folder that holds it: external_data=FOLDER.",
    "load-external-data": "Load the model without ignore_external_data, or fill stripped weights first.",
    "external-data-ignored": "as ignore_external_data=True says",
    "external-data-path": "Model.save(external_data=NAME) names this file. ",
    "onnxrt-library": "Install it (pip install onnxruntime), or name a library or a Python environment with {0}.",
    "leave-extension-out": "Move {0} away, or leave it out of extensions.",
    "define-by-extension": "An extension module may define it (extensions=[...]).",
    "fold-constants": "Fold what computes it first: Model.fold_constants().",
    "fold-constants-leaves-branch": "Model.fold_constants() leaves one branch",
    "fold-constant-nodes": "Constants in nodes become initializers by Model.fold_constants().",
    "lint-model": "Repair the node; Model.check() lists all that break a rule.",
    "resume-evaluation": "Go on with it by resume=True, or remove it to begin anew.",
    "skip-bad-samples": "skip_bad_samples=True counts bad samples and leaves them out.",
    "load-inputs": "give it in data=",
    "shape-or-inputs": "If this is incorrect, give its shape in shapes=, or its data in data=.",
    "shape-tensor-values": "give its values in shapes=",
    "value-range": "Give ranges= a range that the type holds, the smaller bound first.",
    "prove-shapes": "The shapes of inputs are open: say which the model takes with shapes=.",
    "prove-data": "Or give inputs that it runs on with data=.",
    "shape-check": "Note: Use check_shapes=False to attempt to compare values anyway.",
    "tolerances": "Give tolerances (atol, rtol) to have them decide.",
    "averages-and-fail-fast": "check_average cannot be combined with fail_fast.",
    "mark-outputs": "mark more outputs (mark_all=True) to see where it begins",
    "build-refittable": "Build it with refittable=True.",
    "name-inputs": "Name the arrays as the inputs are; Model.inputs has the names.",
    "name-input-shapes": "shapes=",
    "name-value-ranges": "ranges=",
    "name-seed": "seed=",
    "name-postprocess": "top_k=",
}
