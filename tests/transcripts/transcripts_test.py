"""Replays recorded sessions of the real Polygraphy and compares what this build prints, line by line.

usage: transcripts_test.py BINARY DATA_FOLDER [NAME...]

DATA_FOLDER holds models/ and the sessions of two releases, polygraphy_053_transcripts/ and, for what has not changed
since, polygraphy_transcripts/ (a file per session: the command, its exit code, stdout and stderr); more sessions are beside
this file, in recorded/. Files beside the sessions are what some of them look at. Times, folders and the time stamps in
runner names are left out of the comparison; stderr is not compared. Sessions of `run` need ONNX Runtime. Exits with 77
(skipped) when the folder is missing, and when all else agrees but ONNX Runtime is missing.
"""

import difflib
import json
import math
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import made_models

SKIPPED = 77
HERE = pathlib.Path(__file__).resolve().parent
# Of each folder the sessions that count, those of `run` (which need ONNX Runtime) first.
OLD, NEW = "polygraphy_transcripts", "polygraphy_053_transcripts"
SESSIONS = {
    OLD: (["lint*.txt", "bad_option.txt", "missing_model.txt"],
          ["inspect_*.txt", "sparsity*.txt", "extract*.txt", "sanitize_*.txt", "prune.txt", "weight_*.txt", "to_input.txt"]),
    NEW: (["run_*.txt"], ["check_accuracy_*.txt", "inspect_data_*.txt", "inspect_model_*.txt", "data_*.txt",
                          "extract_no_inputs.txt", "shard*.txt", "template_shard_hints.txt"]),
    "recorded": (["run_*.txt"], []),
}

# Not replayed: what is not served (docs/reference/compatibility.md).
NOT_REPLAYED = {"run_perceptual.txt"}
# Sessions with a script of the user's that imports Polygraphy.
NEEDS_POLYGRAPHY = {"run_postprocess_script.txt"}

# What has to exist before a session starts: the commands that make it.
PREPARE = {
    "sparsity_after.txt": ["polygraphy surgeon prune needs_constraints.onnx -o pruned.onnx"],
    "shard_fused_inspect.txt": ["polygraphy multi-device shard attention.onnx -s fused_hints.json -o fused.onnx"],
    "weight_reconstruct.txt": ["polygraphy surgeon weight-strip needs_constraints.onnx -o strip.onnx"],
}

# Files and folders of the recordings that a session looks at; others make them.
NEEDS = {
    "run_load_dirs.txt": ["inputs_dir", "outputs_dir"],
    "run_save_dir_not_empty.txt": ["outputs_dir"],
    "run_different_iterations.txt": ["outputs_dir"],
    "inspect_data_dir.txt": ["outputs_dir"],
    "run_load_ragged.txt": ["concat.json"],
    "run_postprocess_script.txt": ["golden.json", "hooks.py"],
    "run_load_overlaps_save.txt": ["inputs.json"],
    "run_blob_overlap.txt": ["inputs.json"],
    "data_merge.txt": ["inputs.json", "outputs.json"],
    "data_concat_outputs.txt": ["outputs.json", "golden.json"],
    "data_to_input_removed.txt": ["inputs.json"],
    "inspect_data_accuracy.txt": ["accuracy.json"],
    "shard.txt": ["attention.onnx", "hints.json"],
    "shard_one_shot_fused.txt": ["attention.onnx"],
    "shard_fused_inspect.txt": ["attention.onnx"],
    "template_shard_hints.txt": ["attention.onnx"],
    "shard_tp.txt": ["tp_model.onnx"],
    **{f"check_accuracy_{x}.txt": ["accuracy.json"] for x in
       ("average", "elemwise", "fail", "missing_metric", "pass", "vacuous")},
    **{f"run_{x}.txt": ["golden.json"] for x in
       ("fail_tolerance", "fail_fast", "metrics_fail", "check_average", "save_accuracy")},
}

# Files that a session saves, to be equal by meaning.
SAVES = {
    "run_save_dirs.txt": [f"{d}/000000000{i}.json" for d in ("inputs_dir", "outputs_dir") for i in (0, 1)],
    "run_save_files.txt": ["inputs.json", "outputs.json"],
    "run_save_accuracy.txt": ["accuracy.json"],
    "check_accuracy_average.txt": ["accuracy_average.json"],
    "template_shard_hints.txt": ["hints.json"],
    "run_save_input_blob.txt": ["blobs/0000000000/x.bin"],
}

# The session that saves a page, the page, and the recorded description of its nodes.
VIEWER, PAGE, PAYLOAD = "inspect_model_save_visual.txt", "dds.html", "visual_payload.json"
# The output of which the model says no shape: there it has the shape of a scalar, here none.
WITHOUT_RANK = "conv_out_13"

# What is shown otherwise on purpose: docs/reference/compatibility.md says why.
SHORT = "[E] FAILED | Iterations of some runs were not compared with any. --partial compares the results that exist."
FAILS = {"[I] PASSED | Runtime": "[E] FAILED | Runtime"}
# The object that Python prints for an open file.
HINTS_FILE = {f"<_io.TextIOWrapper name='hints.json' mode='{mode}' encoding='UTF-8'>": "hints.json" for mode in "rw"}
DIFFERENT = {
    "shard.txt": HINTS_FILE,
    "template_shard_hints.txt": HINTS_FILE,
    # Inputs come in the order in which they are found, not in that of a Python set: v before q.
    "shard_one_shot_fused.txt": {"for tensor q": "for tensor (v)", "for tensor v": "for tensor (q)", "for tensor: q": "for tensor: (v)",
                                 "for tensor: v": "for tensor: (q)", "tensor: shard_4": "tensor: shard_10", "(v)": "v", "(q)": "q"},
    # The name that ONNX Runtime's symbolic inference makes up for an extent that nothing tells.
    "sanitize_dds.txt": {"'Range_5_o0__d0'": "-1"},
    # From 0.50 on, attributes that hold an element type show its name.
    "inspect_model_dds.txt": {"_int64.to = 7": "_int64.to = int64", "_float.to = 1": "_float.to = float32"},
    "inspect_dds_after.txt": {"_int64.to = 7": "_int64.to = int64", "_float.to = 1": "_float.to = float32"},
    "run_different_iterations.txt": FAILS,
    "run_load_empty_dir.txt": FAILS,
    "run_postprocess_script.txt": FAILS,
    # Upper and lower case count as the same in suggestions, too.
    "run_outputs_by_type.txt": {"Available op types: ['Add', 'Mul']": "Did you mean one of: ['Mul']?"},
}
# Another exit code, because the real tool passes what it did not compare, or ends with a traceback.
STATUS = {"run_different_iterations.txt": 1, "run_postprocess_script.txt": 1, "run_bool_l2.txt": 0, "run_load_empty_dir.txt": 1, "check_accuracy_vacuous.txt": 1,
          "run_iterations_0_sequential.txt": 0, "run_warm_up_streaming.txt": 0,
          "run_graph_opt_level_bad.txt": 0,
          "data_to_input_removed.txt": 0}
# Lines that only the recording has, or only this build, as regular expressions.
ONLY_RECORDED = {
    # Shapes are inferred here, without ONNX Runtime and its needs.
    "extract_no_inputs.txt": [r"\[W\] Falling back to `onnx.shape_inference` because.*", r" +Note that using ONNX-Runtime for shape inference.*",
                              r" +Consider installing ONNX-Runtime or setting.*"],
    "run_save_files.txt": [r"\[W\] Saving streamed results to a single file accumulates every iteration in memory.*"],
    # There the second iteration replaces the first, which it warns of.
    "data_merge.txt": [r"\[W\] Overwriting input '.*' while merging data from .*"],
}
ONLY_HERE = {
    "run_different_iterations.txt": [re.escape(SHORT)],
    "run_load_empty_dir.txt": [re.escape(SHORT)],
    "run_fail_tolerance.txt": [re.escape(SHORT)],
    "run_postprocess_script.txt": [re.escape(SHORT)],
    "run_metrics_fail.txt": [re.escape(SHORT)],
    "run_check_average.txt": [r"\[E\]         simple: mean error \| .* \| FAILED"],
    "to_input.txt": [r"\[W\] `data to-input` is called `data merge` in newer releases; it does the same\.",
                     r"\[W\] Overwriting input '.*' while merging data from .*"],
}
# Where the recording ends with a traceback, this build goes on.
GOES_ON = {"run_bool_l2.txt"}
# What is compared with nothing but the exit code: the recording ends with a traceback or a refusal, or is a script, which
# tests/compat/gen_script_check.py runs.
ENDS_OTHERWISE = {"run_gen_script.txt", "run_iterations_0_sequential.txt", "run_warm_up_streaming.txt", "run_graph_opt_level_bad.txt",
                  "data_to_input_removed.txt", "check_accuracy_vacuous.txt"}

# What a Python package logs on its own while upstream matches patterns: not ours to print.
NOISE = re.compile(r"\[[IW]\] \t?(colored module is not installed|Start a subgraph matching|Checking node:|No match because:|Single node is matched|Found a matched subgraph)")


class Session:
    """One recorded command."""

    def __init__(self, path):
        text = path.read_text()
        head, rest = text.split("--- stdout\n", 1)
        command, status = head.strip().split("\n")
        self.name = path.name
        self.folder = path.parent
        self.command = command.removeprefix("$ ")
        self.status = int(re.search(r"\d+", status).group())
        self.stdout = rest.split("--- stderr\n", 1)[0].splitlines()


def as_expected(session, line):
    for theirs, ours in DIFFERENT.get(session.name, {}).items():
        line = line.replace(theirs, ours)
    return line


def normalize(line, folder):
    line = line.replace(f"{folder}/", "")
    line = re.sub(r"-\d\d/\d\d/\d\d-\d\d:\d\d:\d\d", "-TIME", line)
    # The order of a Python set is its own.
    line = re.sub(r"\{('[^{}]*')\}", lambda m: "{" + ", ".join(sorted(m.group(1).split(", "))) + "}", line)
    line = re.sub(r"in [0-9.e+-]+ ms \| Average inference time: [0-9.e+-]+ ms", "in TIME", line)
    return re.sub(r"Runtime: [0-9.]+s", "Runtime: TIME", line)


def run(command, folder):
    # The words as the tool got them: but for those around patterns, quotes are its own.
    words = shlex.split(command, posix="'x*'" in command)
    return subprocess.run(words, executable=f"{folder}/{words[0]}", cwd=folder, capture_output=True, text=True)


def prepare_folder(folder, binary, data):
    os.symlink(binary, f"{folder}/polygraphy")
    for file in (data / "models").iterdir():
        shutil.copy(file, folder)
        os.chmod(f"{folder}/{file.name}", 0o644)
    made_models.write_all(folder)


def lint_report(path):
    """A lint report in the form that is compared. The lists of the summary are sets in Python, without an order. Warnings
    about schemas come from the onnx package, which the recorded process had loaded beside ONNX Runtime."""
    report = json.loads(path.read_text())
    report["summary"] = {key: sorted(names) for key, names in report["summary"].items()}
    report["lint_entries"] = [e for e in report["lint_entries"] if not e["message"].startswith("Schema error: ")]
    return json.dumps(report, indent=1).splitlines()


def compare_reports(session, folder, data):
    """The difference between the report that a lint session saved and the recorded one, as lines."""
    output = re.search(r"-o (\S+)", session.command).group(1)
    recorded = data / "polygraphy_transcripts" / output
    return difflib.unified_diff(lint_report(recorded), lint_report(pathlib.Path(folder) / output), "recorded report",
                                "this build's", lineterm="")


def write_fused_hints(path):
    """What the graph of shard_fused_inspect.txt was made of: its inputs are in the order of a Python set."""
    tensor = lambda name: {"name": name, "seq_len_idx": 1, "rank": 3, "polygraphy_class": "ShardTensor"}
    fused = {"is_causal": True, "q_shuffle": [0, 2, 1], "k_shuffle": None, "v_shuffle": None, "nb_rank": 2, "polygraphy_class": "FusedAttention"}
    layer = {"q": "q", "gather_kv": False, "gather_q": False, "replace": fused, "polygraphy_class": "AttentionLayerHint"}
    collectives = {"group_size": 0, "root": -1, "nb_rank": 2, "reduce_op": "max", "groups": [], "polygraphy_class": "DistCollective"}
    path.write_text(json.dumps({"parallelism": "CP", "attention_layers": [layer], "dist_collectives": collectives,
                                "inputs": [tensor(x) for x in "qvk"], "outputs": [tensor("y")], "k_seq_len_idx": 0, "v_seq_len_idx": 0,
                                "kv_rank": 3, "polygraphy_class": "ShardHints"}))


def nodes_of(lines):
    """The nodes of a model that `inspect model --show layers attrs` shows, each as one text without its number, and without the
    shapes of tensors that nodes compute, sorted. What comes before them is the second value."""
    text = "\n".join(lines)
    head, *nodes = re.split(r"\n *Node \d+ *\| ", text)
    bare = lambda node: re.sub(r" \[(dtype|shape)=.*?\](?=[,}])", "", re.sub(r"\s+", " ", node).strip())
    return sorted(bare(n) for n in nodes), head


def same_fused_graph(recorded, ours):
    """Compares shard_fused_inspect.txt, whose graph has detached nodes, in another order, and an output with another name."""
    expected, actual = nodes_of(recorded), nodes_of(ours)
    detached = [n for n in expected[0] if n.startswith(("mm1 ", "sm ", "mm2 "))]
    swapped = {"shard_25": "y", "y": "shard_25"}
    kept = sorted(re.sub(r"\b(shard_25|y)\b", lambda m: swapped[m.group()], n) for n in expected[0] if n not in detached)
    # Beside names, the types of outputs and the number of nodes.
    head = expected[1].replace("{shard_25 [dtype=float32, shape=()]}", "{y [dtype=float32, shape=('batch', 'sequence_length', 8)]}")
    head = head.replace("19 Node(s)", "16 Node(s)")
    if len(detached) != 3:
        yield "the recording has other detached nodes"
    yield from difflib.unified_diff(kept, actual[0], "recorded nodes", "this build's", lineterm="")
    yield from difflib.unified_diff(head.splitlines(), actual[1].splitlines(), "recorded", "this build", lineterm="")


def take_files(session, folder):
    """What the session looks at, from beside it."""
    if session.name == "shard_fused_inspect.txt":
        write_fused_hints(pathlib.Path(folder) / "fused_hints.json")
    names = NEEDS.get(session.name, [])
    if session.folder.name == OLD:
        names = [p.name for p in session.folder.glob("*puts.json")]
        if session.name == "bad_option.txt":
            names = []
    for name in names:
        target = pathlib.Path(folder) / name
        if (session.folder / name).is_dir():
            shutil.copytree(session.folder / name, target)
            for path in [target, *target.iterdir()]:
                os.chmod(path, 0o755 if path.is_dir() else 0o644)
        else:
            shutil.copy(session.folder / name, target)
            os.chmod(target, 0o644)
    if "empty_dir" in session.command:
        os.mkdir(f"{folder}/empty_dir")


def same_meaning(a, b):
    """JSON values without what differs from run to run."""
    if isinstance(a, dict) and isinstance(b, dict):
        keys = [{k for k in x if k not in ("runtime", "inputs_fingerprint")} for x in (a, b)]
        return keys[0] == keys[1] and all(same_meaning(a[k], b[k]) for k in keys[0])
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same_meaning, a, b))
    if isinstance(a, float) and isinstance(b, (int, float)):
        return math.isclose(a, b, rel_tol=1e-6) or (math.isnan(a) and math.isnan(b))
    if isinstance(a, str) and isinstance(b, str):
        return normalize(a, "nowhere") == normalize(b, "nowhere")
    return type(a) is type(b) and a == b


def compare_files(session, folder):
    for name in SAVES.get(session.name, []):
        recorded, ours = session.folder / name, pathlib.Path(folder) / name
        if not ours.exists():
            yield f"{name} was not saved"
        elif name.endswith(".json"):
            if not same_meaning(json.loads(recorded.read_text()), json.loads(ours.read_text())):
                yield f"{name} has another meaning than the recorded one"
        elif recorded.read_bytes() != ours.read_bytes():
            yield f"{name} differs from the recorded one"


def compare_pages(session, folder):
    """The nodes in the page that was saved, and the recorded ones."""
    if session.name != VIEWER:
        return
    recorded = json.loads((session.folder / PAYLOAD).read_text())
    page = json.loads(re.search(r'id="model">(.*?)</script>', (pathlib.Path(folder) / PAGE).read_text())[1])
    expected = recorded["nodes_saved_page"]
    for node in expected.values():
        for value in node["inputs"] + node["outputs"]:
            if value["name"] == WITHOUT_RANK:
                value["shape"] = None
    as_lines = lambda value: json.dumps(value, indent=1).splitlines()
    yield from difflib.unified_diff(as_lines(expected), as_lines(page["nodes"]), "recorded nodes", "this build's", lineterm="")
    for key, value in page["model_info"].items():
        if recorded["model_info"][key] != value:
            yield f"{key} is {value}, recorded {recorded['model_info'][key]}"


def without(lines, patterns, problems, whose):
    """The lines but for those that match; each pattern has to match one."""
    for pattern in patterns:
        kept = [line for line in lines if not re.fullmatch(pattern, line)]
        if len(kept) == len(lines):
            problems.append(f"no line of {whose} is {pattern}")
        lines = kept
    return lines


def replay(session, binary, data):
    """Returns the differences as text; empty when there are none."""
    with tempfile.TemporaryDirectory() as folder:
        folder = os.path.realpath(folder)
        prepare_folder(folder, binary, data)
        take_files(session, folder)
        for command in PREPARE.get(session.name, []):
            run(command, folder)
        result = run(session.command, folder)
        problems = list(compare_reports(session, folder, data)) if session.name.startswith("lint") else []
        problems += compare_files(session, folder)
        problems += compare_pages(session, folder)
    status = STATUS.get(session.name, session.status)
    if result.returncode != status:
        problems.append(f"exit code {result.returncode} instead of {status}\n{result.stderr}")
    if session.name in ENDS_OTHERWISE:
        return "\n".join(problems)
    expected = [normalize(as_expected(session, line), folder) for line in session.stdout if line and not NOISE.match(line)]
    actual = [normalize(line, folder) for line in result.stdout.splitlines() if line]
    if session.name == "shard_fused_inspect.txt":
        return "\n".join([*problems, *same_fused_graph(expected, actual)])
    expected = without(expected, ONLY_RECORDED.get(session.name, []), problems, "the recording")
    actual = without(actual, ONLY_HERE.get(session.name, []), problems, "this build")
    if session.name in GOES_ON:
        actual = actual[:len(expected)]
    if expected != actual:
        problems += difflib.unified_diff(expected, actual, "recorded", "this build", lineterm="")
    return "\n".join(problems)


def has_polygraphy():
    """Whether the interpreter that scripts run in has the real one; it is that of ONNX Runtime's environment."""
    python = pathlib.Path(os.environ.get("ASSAY_ONNXRUNTIME", "")) / "bin/python3"
    if "ASSAY_PYTHON" not in os.environ and python.exists():
        os.environ["ASSAY_PYTHON"] = str(python)
    python = os.environ.get("ASSAY_PYTHON", "python3")
    return subprocess.run([python, "-c", "import polygraphy.comparator"], capture_output=True).returncode == 0


def has_onnxruntime(binary, data):
    with tempfile.TemporaryDirectory() as folder:
        prepare_folder(folder, binary, data)
        result = run("polygraphy run identity.onnx --onnxrt", folder)
        return "--onnxrt cannot be used" not in result.stderr, result.stderr


def main():
    binary, data, names = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
    if not (data / OLD).is_dir():
        print(f"skipped: there are no transcripts at {data}")
        return SKIPPED
    usable, reason = has_onnxruntime(binary, data)
    paths = []
    for name, (of_run, others) in SESSIONS.items():
        folder = HERE / name if name == "recorded" else data / name
        for pattern in others + (of_run if usable else []):
            paths += [p for p in sorted(folder.glob(pattern)) if p.name not in NOT_REPLAYED and (not names or p.name in names)]
    if not has_polygraphy():
        print("skipped in part: the Python that scripts run in has no Polygraphy, which a session's script imports")
        paths = [p for p in paths if p.name not in NEEDS_POLYGRAPHY]
    failed = 0
    for path in paths:
        problems = replay(Session(path), binary, data)
        print(f"{'FAILED' if problems else 'passed'}  {path.name}")
        if problems:
            failed += 1
            print(problems)
    print(f"{len(paths) - failed} of {len(paths)} sessions agree")
    if failed or not paths:
        return 1
    if not usable:
        print(f"skipped: the sessions of `run` need ONNX Runtime. {reason}")
    return 0 if usable else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
