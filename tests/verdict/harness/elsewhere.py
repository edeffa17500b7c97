"""Backends in other Python environments: an older ONNX Runtime, OpenVINO. A process of that environment computes what it is sent."""
import os
import pickle
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def python_of(variable):
    """The interpreter of the environment that a variable names, or None."""
    given = os.environ.get(variable, "")
    if not given:
        return None
    return os.path.join(given, "bin", "python3") if os.path.isdir(given) else given


class Elsewhere:
    """`kind` of serve() below, in another environment."""

    def __init__(self, name, python, kind, **settings):
        self.name = name
        self.process = subprocess.Popen([python, str(Path(__file__).resolve()), "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.version = self.ask(("open", kind, settings))

    def ask(self, message):
        pickle.dump(message, self.process.stdin)
        self.process.stdin.flush()
        fine, value = pickle.load(self.process.stdout)
        if not fine:
            raise RuntimeError(value)
        return value

    def run(self, model, feed):
        names = [o.name for o in model.graph.output]
        return dict(zip(names, self.ask(("run", model.SerializeToString(), names, feed))))

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def onnxruntime_of(level, threads):
    import onnxruntime
    onnxruntime.set_default_logger_severity(4)
    levels = {"none": "ORT_DISABLE_ALL", "basic": "ORT_ENABLE_BASIC", "extended": "ORT_ENABLE_EXTENDED", "all": "ORT_ENABLE_ALL"}

    def run(model, names, feed):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.log_severity_level = threads, 4
        options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, levels[level])
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"]).run(names, feed)
    return onnxruntime.__version__, run


def openvino_of(precision, threads):
    import openvino
    core = openvino.Core()
    settings = {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": precision}

    def run(model, names, feed):
        compiled = core.compile_model(core.read_model(model), "CPU", settings)
        results = compiled(feed)
        return [results[i] for i in range(len(names))]
    return openvino.__version__, run


def serve():
    """Requests on standard input, answers where standard output was; what a library prints goes to standard error."""
    asked, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    run = None
    while True:
        try:
            message = pickle.load(asked)
        except EOFError:
            return
        try:
            if message[0] == "open":
                version, run = {"onnxruntime": onnxruntime_of, "openvino": openvino_of}[message[1]](**message[2])
                answer = True, version
            else:
                answer = True, [v for v in run(*message[1:])]
        except Exception as e:  # what the backend does not take
            answer = False, f"{type(e).__name__}: {e}"[:500]
        pickle.dump(answer, answers)
        answers.flush()


if __name__ == "__main__":
    serve()
