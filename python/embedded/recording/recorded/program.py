"""The program assay, for what a loader needs of it. The host names it in ASSAY_PROGRAM; else it is looked for on PATH."""

import os
import shutil
import subprocess
import tempfile

from .errors import RecordingError


def changed_model(arguments, data, external_data_dir=None):
    """The bytes of the model that `assay ARGUMENTS MODEL -o RESULT` writes. Throws RecordingError."""
    program = os.environ.get("ASSAY_PROGRAM") or shutil.which("assay")
    if not program:
        raise RecordingError(
            f"`assay {' '.join(arguments)}` is needed, and there is no program assay on PATH. Name it in the environment "
            "variable ASSAY_PROGRAM.")
    with tempfile.TemporaryDirectory() as folder:
        model, result = os.path.join(folder, "model.onnx"), os.path.join(folder, "result.onnx")
        with open(model, "wb") as file:
            file.write(data)
        command = [program, arguments[0], model, *arguments[1:], "-o", result, "-q"]
        if external_data_dir:
            command += ["--external-data-dir", external_data_dir]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise RecordingError(f"`assay {' '.join(arguments)}`: {done.stderr.strip() or done.stdout.strip()}")
        with open(result, "rb") as file:
            return file.read()
