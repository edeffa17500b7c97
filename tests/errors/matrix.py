"""Which subcommand meets which kind of bad file or bad luck: what matrix_test.py runs. A new subcommand needs a line here.

In command lines `{}` is the file that the case is about; fixtures.py says what else lies in the folder.
"""

import dataclasses

# What a reader must say of each file, the same words from every subcommand.
FILES = {
    "missing": {"nothing.onnx": "cannot open nothing.onnx: No such file or directory"},
    "empty": {"empty.onnx": "the file is empty"},
    "truncated": {"truncated.onnx": "the bytes are damaged at offset 4: a length reaches beyond its end"},
    "random bytes": {"random.onnx": "the bytes are damaged at offset 1: an unknown wire type"},
    "lying length": {"long_length.onnx": "the bytes are damaged at offset 6: a length reaches beyond its end"},
    "cycle": {"cycle.onnx": "the graph has a cycle: 'n0' (Relu) <- 'n1' (Relu) <- 'n0' (Relu)"},
    "dangling name": {"dangling.onnx": "the input 'nowhere' is not defined"},
    "external data": {
        "external_missing.onnx": "gone.bin does not exist",
        "external_short.onnx": "short.bin, which has only 4",
        "external_parent.onnx": "its external data are at '../outside.bin', outside the model's folder",
        "external_absolute.onnx": "its external data are at the absolute path '/etc/hostname'",
        "external_link.onnx": "outside the model's folder",
        "external_hard.onnx": "hard.bin has 2 names (hard links)",
        "external_pipe.onnx": "pipe.bin: it is a pipe",
        "external_folder.onnx": "folder.bin: it is a folder",
    },
    # A folder is a TensorFlow checkpoint to commands that take models of several kinds.
    "directory": {"folder.onnx": ("folder.onnx: it is a folder", "folder.onnx is a model of type ckpt")},
    "special file": {"pipe.onnx": "pipe.onnx: it is a pipe", "device.onnx": "device.onnx: it is a device"},
    "unreadable": {"unreadable.onnx": "unreadable.onnx: Permission denied"},
}


@dataclasses.dataclass
class Reader:
    command: str
    status: int = 1
    # Kinds that are findings of this command, on stdout and with its own words, rather than what ends it.
    findings: dict = dataclasses.field(default_factory=dict)
    place: str = ""  # where the command finds the file, if its command line does not name it
    output: str = ""  # a file that it writes with its findings


LINT = {kind: "[E] LINT | " for kind in FILES if kind not in ("missing", "directory", "special file", "unreadable")}
# It shows what can be read.
VIEW = {kind: "[E] " for kind in ("truncated", "cycle", "dangling name", "external data")}
READERS = {
    "run": [Reader("run {} --ref"), Reader("run {} --engine")],
    "convert": [Reader("convert {} -o out.plan --builder-optimization-level 0"), Reader("convert {} -o out.onnx")],
    "bench": [Reader("bench {} --duration 0 --iterations 1")],
    "generate": [Reader("generate {} --prompt-ids 1 --ref"), Reader("generate {} --prompt-ids 1 --engine --ref")],
    "eval": [Reader("eval {} --ref --engine")],
    "inspect model": [Reader("inspect model {} --show layers weights")],
    "inspect sparsity": [Reader("inspect sparsity {}")],
    "view": [Reader("view {} -o out.html", findings=VIEW, output="out.html")],
    "inspect diff": [Reader("inspect diff {} identity.onnx", 2), Reader("inspect diff identity.onnx {}", 2)],
    "inspect capability": [Reader("inspect capability {}")],
    "check lint": [Reader("check lint {} --no-onnxrt", findings=LINT)],
    "check conformance": [Reader("check conformance case --on reference", place="case/model.onnx",
                                 findings={kind: "[E] FAILED reference case: " for kind in FILES})],
    "debug build": [Reader("debug build {} --until 1 --builder-optimization-level 0 --check true")],
    "debug precision": [Reader("debug precision {} --fp16 --mode linear --builder-optimization-level 0 --check true"),
                        Reader("debug precision {} --fp16 --accuracy 20dB --builder-optimization-level 0")],
    "debug nan": [Reader("debug nan {}")],
    "debug range": [Reader("debug range {}")],
    "debug diverge": [Reader("debug diverge {} --engine"), Reader("debug diverge identity.onnx --against {}"),
                      Reader("debug diverge {} --engine --prompt-ids 1")],
    "debug versions": [Reader("debug versions {} --to-opset 18"), Reader("debug versions identity.onnx --against {}")],
    "debug reduce": [Reader("debug reduce {} -o out.onnx --check false")],
    "debug tactics": [Reader("debug tactics {} --builder-optimization-level 0")],
    "debug passes": [Reader("debug passes {} --builder-optimization-level 0")],
    "surgeon extract": [Reader("surgeon extract {} --outputs y:auto -o out.onnx")],
    "surgeon sanitize": [Reader("surgeon sanitize {} --fold-constants -o out.onnx")],
    "surgeon insert": [Reader("surgeon insert {} --inputs x --outputs y --op F -o out.onnx")],
    "surgeon convert-opset": [Reader("surgeon convert-opset {} --to 11 -o out.onnx")],
    "surgeon prune": [Reader("surgeon prune {} -o out.onnx")],
    "surgeon weight-strip": [Reader("surgeon weight-strip {} -o out.onnx")],
    "surgeon weight-reconstruct": [Reader("surgeon weight-reconstruct {} -o out.onnx")],
    "template shard-hints": [Reader("template shard-hints {} -o out.json")],
    "multi-device shard": [Reader("multi-device shard {} -s hints_typed.json -o out.onnx"), Reader("multi-device shard {} --one-shot -o out.onnx")],
    "plugin match": [Reader("plugin match {} --plugin-dir plugins -o out.yaml")],
    "plugin list": [Reader("plugin list {} --plugin-dir plugins")],
    "plugin replace": [Reader("plugin replace {} --plugin-dir plugins --config good.yaml -o out.onnx")],
    "plugin autotune": [Reader("plugin autotune {} --plugin-dir plugins --skip-autotuning --save-config-yaml found.yaml -o out.onnx")],
}
NO_READERS = {
    "completion": "it is about no model",
    "inspect data": "it shows results of runs",
    "inspect builder": "it is about no model",
    "inspect extensions": "it is about no model",
    "inspect tactics": "it shows tactic replays",
    "inspect diff-tactics": "it shows tactic replays",
    "debug repeat": "it is about no model",
    "python": "the script reads what it wants",
    "template model": "it makes models",
    "template trt-network": "the script that it writes reads the model",
    "template trt-config": "it is about no model",
    "template onnx-gs": "the script that it writes reads the model",
    "template extension": "it is about no model",
    "check accuracy": "it reads results of comparisons",
    "merge": "it reads what shards have written",
    "data concat": "it reads results of runs",
    "data merge": "it reads results of runs",
    "data to-input": "it reads results of runs",
}
# (subcommand, kind): why the case cannot be.
NO_CASES = {("check conformance", "missing"): "a folder without a model is not a case"}


@dataclasses.dataclass
class Writer:
    command: str
    in_place: str = ""  # the command with `{}` as its input and its output
    source: str = "typed.onnx"  # what its input is
    data: str = ""  # the option that gives a model external data


EXTERNAL = " --save-external-data data.bin --external-data-size-threshold 0"


def model_writer(command, output="-o"):
    return Writer(f"{command.format('typed.onnx')} {output} {{}}", f"{command} {output} {{}}", data=EXTERNAL)


WRITERS = {
    "run --save-onnx": model_writer("run {} --ref", "--save-onnx"),
    "run --save-inputs": Writer("run typed.onnx --ref --save-inputs {}"),
    "run --save-outputs": Writer("run typed.onnx --ref --save-outputs {}"),
    "run --save-settings": Writer("run typed.onnx --ref --save-settings {}"),
    "run --gen-script": Writer("run typed.onnx --ref --gen-script {}"),
    "run --save-engine": Writer("run typed.onnx --trt --builder-optimization-level 0 --save-engine {}"),
    "run --save-tactics": Writer("run typed.onnx --trt --builder-optimization-level 0 --save-tactics {}"),
    "eval": Writer("eval typed.onnx --ref --engine -o {}"),
    "convert": Writer("convert typed.onnx -o {} --builder-optimization-level 0 --convert-to trt"),
    "bench --save-engine": Writer("bench typed.onnx --skip-inference --builder-optimization-level 0 --save-engine {}"),
    # What holds no times: the files of two runs are equal.
    "bench --export-layer-info": Writer("bench typed.onnx --skip-inference --builder-optimization-level 0 --export-layer-info {}"),
    "inspect model --json": Writer("inspect model typed.onnx --stats --json {}"),
    "inspect model --save-visual": Writer("inspect model typed.onnx --save-visual {}"),
    "inspect data --json": Writer("inspect data name.json --json {}", source="name.json"),
    "inspect sparsity --json": Writer("inspect sparsity typed.onnx --json {}"),
    "inspect capability --json": Writer("inspect capability typed.onnx --json {}"),
    "view -o": Writer("view typed.onnx -o {}"),
    "inspect diff --json": Writer("inspect diff typed.onnx typed.onnx --json {}"),
    "view": Writer("view typed.onnx -o {}"),
    "debug nan --json": Writer("debug nan typed.onnx --json {}"),
    "debug range --json": Writer("debug range typed.onnx --json {}"),
    "debug range --csv": Writer("debug range typed.onnx --csv {}"),
    "debug versions --json": Writer("debug versions typed.onnx --against typed.onnx --json {}"),
    "debug diverge --json": Writer("debug diverge typed.onnx --engine --json {}"),
    "check lint": Writer("check lint typed.onnx --no-onnxrt -o {}"),
    "surgeon extract": model_writer("surgeon extract {} --outputs m:auto"),
    "surgeon sanitize": model_writer("surgeon sanitize {} --cleanup"),
    "surgeon insert": model_writer("surgeon insert {} --inputs x --outputs c --op F"),
    "surgeon convert-opset": Writer("surgeon convert-opset typed.onnx --to 17 -o {}", "surgeon convert-opset {} --to 17 -o {}"),
    "surgeon prune": model_writer("surgeon prune {}"),
    # What it leaves inside the model needs no file of data.
    "surgeon weight-strip": dataclasses.replace(model_writer("surgeon weight-strip {}"), data=""),
    "surgeon weight-reconstruct": model_writer("surgeon weight-reconstruct {}"),
    "plugin match": Writer("plugin match two.onnx --plugin-dir plugins -o {}"),
    "plugin replace": Writer("plugin replace two.onnx --plugin-dir plugins --config good.yaml -o {}",
                             "plugin replace {} --plugin-dir plugins --config good.yaml -o {}", source="two.onnx"),
    # The tuned model is saved as others are; what is found is written first.
    "plugin autotune --save-config-yaml": Writer("plugin autotune two.onnx --plugin-dir plugins --skip-autotuning -o unused.onnx --save-config-yaml {}"),
    "data concat": Writer("data concat name.json -o {}", "data concat {} -o {}", source="name.json"),
    "data merge": Writer("data merge name.json -o {}", "data merge {} -o {}", source="name.json"),
    "data to-input": Writer("data to-input name.json -o {}", "data to-input {} -o {}", source="name.json"),
    "template model": Writer("template model mlp -o {}"),
    "template trt-network": Writer("template trt-network typed.onnx -o {}"),
    "template trt-config": Writer("template trt-config -o {}"),
    "template onnx-gs": Writer("template onnx-gs typed.onnx -o {}"),
    "template shard-hints": Writer("template shard-hints attention.onnxtxt -o {}"),
    "multi-device shard": model_writer("multi-device shard {} -s hints_typed.json"),
    # Of its files, the one that is written into the folder.
    "inspect capability": Writer("inspect capability unknown_op.onnx -o {}"),
}
# What a writer's file ends in, by a part of its command.
SUFFIXES = {
    ".json": ("--json", "eval ", "inputs {}", "outputs {}", "data ", "lint", "shard-hints", "--save-tactics", "--save-settings", "--export-layer-info"),
    ".yaml": ("plugin match", "--save-config-yaml"),
    ".py": ("trt-network", "trt-config", "onnx-gs", "--gen-script"),
    ".plan": ("--save-engine", "--convert-to trt"),
    ".html": ("--save-visual", "view typed"),
}
NO_WRITERS = {
    "completion": "its pages go to a folder that it makes",
    "generate": "its report holds times, and its tokens are a few bytes, which no limit of this test cuts",
    "merge": "it writes results as eval does; tests/eval merges those of other commands",
    "check accuracy": "what it saves is what it reads, with other thresholds: run saves the same",
    "inspect data": "it writes nothing",
    "inspect sparsity": "it writes nothing",
    "inspect builder": "it writes nothing",
    "inspect extensions": "it writes nothing",
    "template extension": "it fills a folder that it makes, and refuses one that is there",
    "inspect tactics": "it writes nothing",
    "inspect diff-tactics": "it writes nothing",
    "check conformance": "it writes numbers of a few bytes, after cases that take long",
    "plugin list": "it writes nothing",
    "debug build": "each plan is gone when the next is made",
    "debug reduce": "two at once would share the intermediate model; tests/debug kills and resumes it",
    "debug precision": "two at once would share the journal; tests/debug kills and resumes it",
    "debug tactics": "two at once would share the journal; tests/debug kills and resumes it",
    "debug passes": "two at once would share the journal; tests/debug kills and resumes it",
    "debug repeat": "it moves what its check writes",
    "python": "the script writes what it wants",
}
# Subcommands whose -o is a folder: the file in it.
FOLDER_FILES = {"inspect capability": "results.txt"}
