"""Small valid models that are easily written wrong: attribute references, bodies, names that others would choose, large constants."""

import onnx
import onnx.checker
import onnx.parser

TEXTS = {
    # References to parameters, through two functions, of several types, with a default, inside a branch.
    "references": """<ir_version: 9, opset_import: ["" : 17, "loc" : 1]>
g (float[2, 3] x, bool c) => (float[2, 3] y, float[3, 2] z) {
  h = Relu (x)
  y = loc.outer <o = 7> (h, c)
  z = loc.turn <p = [1, 0]> (h)
}
<domain: "loc", opset_import: ["" : 17]> inner <n, a> (x) => (y) {
  i = Constant <value_int: int = @n> ()
  f = Cast <to = 1> (i)
  e = LeakyRelu <alpha: float = @a> (x)
  y = Add (e, f)
}
<domain: "loc", opset_import: ["" : 17, "loc" : 1]> outer <o> (x, c) => (y) {
  y = If (c) <then_branch = t () => (r) { r = loc.inner <n: int = @o, a: float = 0.5> (x) }, else_branch = e () => (s) { s = Neg (x) }>
}
<domain: "loc", opset_import: ["" : 17]> turn <p> (x) => (y) { y = Transpose <perm: ints = @p> (x) }""",
    "branches": """<ir_version: 8, opset_import: ["" : 17]>
g (float[1, 3] x, bool c) => (float[n, 3] y) <int64[2] twice = {2, 1}> {
  h = Abs (x)
  y = If (c) <then_branch = t () => (float[2, 3] a) { a = Tile (h, twice) }, else_branch = e () => (float[1, 3] b) { b = Neg (h) }>
}""",
    "growing": """<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[n] y, float[3, 1] z) <int64 m = {3}> {
  h = Relu (x)
  y, z = Loop <body = b (int64 i, bool k, float[a] s) => (bool l, float[q] t, float[1] u) {
    l = Identity (k)
    t = Concat <axis = 0> (s, s)
    u = ReduceMax <keepdims = 1> (t)
  }> (m, "", h)
}""",
    "sequences": """<ir_version: 8, opset_import: ["" : 17]>
g (float[2, 3] x, bool c) => (float[n, 3] y) {
  h = Relu (x)
  q = If (c) <then_branch = t () => (seq(float[n, 3]) a) { a = SequenceConstruct (h, h) }, else_branch = e () => (seq(float[n, 3]) b) { b = SequenceConstruct (h) }>
  y = ConcatFromSequence <axis = 0> (q)
}""",
    # Names that a conversion to float16, an insertion or a rewriting would like to have.
    "names": """<ir_version: 8, opset_import: ["" : 17]>
g (float[2, 3] x, bool c) => (float[2, 3] y) <float[3, 3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9}, float two = {2}, float three = {3}> {
  [graph_input_cast_0] x_float16 = MatMul (x, w)
  [x_float16_cast] y_float16 = Mul (x_float16, two)
  [y_cast] q = Mul (y_float16, three)
  [y_cast_1] r = If (c) <then_branch = t () => (float[2, 3] w_float16) { [y_cast_2] w_float16 = MatMul (q, w) },
    else_branch = e () => (float[2, 3] x_float16_polygraphy_surgeon_insert_output) { x_float16_polygraphy_surgeon_insert_output = Relu (q) }>
  [graph_output_cast_0] y = Add (r, two)
}""",
    # Beyond float16's range in every form that a constant has.
    "large": """<ir_version: 8, opset_import: ["" : 17]>
g (float[1, 4] x, int64[1, 4] keep) => (float[1, 4] y) <float one = {1}, float huge = {1e30}, int64[1] four = {4}> {
  k = Cast <to = 1> (keep)
  inverse = Sub (one, k)
  a = Constant <value = float {-3.4028235e+38}> ()
  b = Constant <value_float = -3.4028235e+38> ()
  d = Constant <value_floats = [-3.4028235e+38, 1.0, 2.0, 3.0]> ()
  e = ConstantOfShape <value = float[1] {-3.4028235e+38}> (four)
  m = Mul (inverse, a)
  s = Add (x, m)
  t = Max (s, b, d, e)
  u = Min (t, huge)
  y = Softmax <axis = -1> (u)
}""",
}


def write(folder):
    """The models as files; yields their paths."""
    for name, text in TEXTS.items():
        path = folder / f"{name}.onnx"
        model = onnx.parser.parse_model(text)
        onnx.checker.check_model(model, full_check=True)
        onnx.save(model, path)
        yield path
