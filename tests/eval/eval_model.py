"""A classifier small enough to compute by hand, in ONNX's text form."""

MODEL = """<ir_version: 8, opset_import: ["" : 17]>
classify (float[batch,4] x) => (float[batch,3] y)
<float[4,3] w = {0.9, 0.1, -0.3, 0.2, -0.5, 0.8, 0.4, -0.1, 0.3, -0.7, 0.6, 0.5},
 float[3,3] v = {1.5, 0.25, -0.5, 0.125, 2, 0.75, -1, 0.5, 1.25}, float[3] b = {0.1, -0.2, 0.3}> {
  z = MatMul (x, w)
  s = Add (z, b)
  t = Tanh (s)
  y = MatMul (t, v)
}
"""
