"""What people do to a model before they run it. The converted model is the model that is then judged: what a conversion loses
is nobody's error. Entries of CONVERSIONS take (model, folder) and return a model, or raise what the converter raises."""
import logging
from pathlib import Path

import onnx

import models

logging.disable(logging.WARNING)  # the quantizer's advice


def in_order(model):
    """The nodes behind what they use: the converter to float16 appends its casts."""
    g = model.graph
    made = {o for n in g.node for o in n.output if o}
    used = lambda n: {i for i in n.input} | {i for a in n.attribute for b in a.g.node for i in used(b)}
    ahead, done = list(g.node), set()
    del g.node[:]
    while ahead:
        ready = next(n for n in ahead if not (used(n) & made) - done)
        ahead.remove(ready)
        done.update(ready.output)
        g.node.append(ready)
    return model


def float16(keep_io_types):
    def convert(model, folder):
        from onnxruntime.transformers.float16 import convert_float_to_float16
        m = onnx.ModelProto()
        m.CopyFrom(model)
        return in_order(convert_float_to_float16(m, keep_io_types=keep_io_types))
    return convert


def saved(model, folder):
    source, target = Path(folder) / "plain.onnx", Path(folder) / "converted.onnx"
    onnx.save(onnx.shape_inference.infer_shapes(model), source)
    target.unlink(missing_ok=True)
    return source, target


def static(form, per_channel):
    """Calibrated on ordinary data. Weights of 7 bits, as ONNX Runtime advises for processors without VNNI: there products of
    8 bits saturate, which is an error."""
    def convert(model, folder):
        from onnxruntime import quantization as q

        class Reader(q.CalibrationDataReader):
            def __init__(self):
                self.feeds = iter([models.feed(model, "normal", seed) for seed in range(50, 53)])

            def get_next(self):
                return next(self.feeds, None)

        source, target = saved(model, folder)
        q.quantize_static(source, target, Reader(), quant_format=q.QuantFormat[form], per_channel=per_channel, reduce_range=True,
                          activation_type=q.QuantType.QUInt8, weight_type=q.QuantType.QInt8)
        return onnx.load(target)
    return convert


def dynamic(model, folder):
    from onnxruntime import quantization as q
    source, target = saved(model, folder)
    q.quantize_dynamic(source, target, weight_type=q.QuantType.QInt8, reduce_range=True)
    return onnx.load(target)


def changed(before, after):
    """Whether a conversion found anything to do."""
    return [n.op_type for n in before.graph.node] != [n.op_type for n in after.graph.node] or \
        [w.data_type for w in before.graph.initializer] != [w.data_type for w in after.graph.initializer]


CONVERSIONS = {"none": lambda model, folder: model, "float16": float16(False), "float16_io": float16(True),
               "qdq": static("QDQ", False), "qdq_channel": static("QDQ", True), "qoperator": static("QOperator", False),
               "dynamic": dynamic}
