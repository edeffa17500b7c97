#!/usr/bin/env python3
"""The files of examples/cluster: scripts_test.py ASSAY EXAMPLES. A shell reads the Slurm script and runs it with `assay` replaced by a
program that takes down its words; PyYAML, where it is installed, reads the manifest. Both lines must be ones that `assay eval` takes."""

import os
import pathlib
import stat
import subprocess
import sys
import tempfile

ASSAY, EXAMPLES = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])


def accepted(words, environment):
    """The command's options are known: it fails because there is no model."""
    done = subprocess.run([ASSAY, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, **environment})
    assert done.returncode == 1 and "usage" not in done.stdout, done.stdout
    assert "model.onnx" in done.stdout or "data.npz" in done.stdout, done.stdout


def slurm():
    script = EXAMPLES / "eval.slurm"
    subprocess.run(["bash", "-n", script], check=True)
    directives = [line.split()[1] for line in script.read_text().splitlines() if line.startswith("#SBATCH")]
    assert all(d.startswith("--") for d in directives) and directives, directives
    environment = {"SLURM_CPUS_PER_TASK": "4", "SLURM_ARRAY_TASK_ID": "3", "SLURM_ARRAY_TASK_COUNT": "8"}
    pathlib.Path("assay").write_text('#!/bin/sh\nprintf "%s\\n" "$@" > words\n')
    os.chmod("assay", stat.S_IRWXU)
    subprocess.run(["bash", script], check=True, env={**os.environ, **environment, "PATH": f"{os.getcwd()}:{os.environ['PATH']}"})
    accepted(pathlib.Path("words").read_text().splitlines(), environment)


def kubernetes():
    try:
        import yaml
    except ImportError:
        print("skipped in part: there is no PyYAML to read the manifest")
        return
    job = yaml.safe_load((EXAMPLES / "eval-job.yaml").read_text())
    spec = job["spec"]
    assert (job["apiVersion"], job["kind"], spec["completionMode"]) == ("batch/v1", "Job", "Indexed"), job
    pod = spec["template"]["spec"]
    container = pod["containers"][0]
    assert pod["restartPolicy"] in ("Never", "OnFailure"), pod
    assert {m["name"] for m in container["volumeMounts"]} == {v["name"] for v in pod["volumes"]}, pod
    words = container["command"]
    assert words[0] == "assay" and all(isinstance(w, str) for w in words), words
    assert words[words.index("--shard") + 1] == f"auto/{spec['completions']}", words
    accepted(words[1:], {"JOB_COMPLETION_INDEX": "3"})


with tempfile.TemporaryDirectory() as folder:
    EXAMPLES = EXAMPLES.resolve()
    os.chdir(folder)
    slurm()
    kubernetes()
    os.chdir("/")
