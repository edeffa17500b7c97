"""A small model for tests of `bench` and `trtexec`, as text."""

TEXT = """<ir_version: 8, opset_import: ["" : 17]>
small (float[N, 4] x) => (float[N, 4] y)
<float[4, 4] w = {1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 3, 0, 0, 0, 0, 4}>
{
   m = MatMul(x, w)
   y = Relu(m)
}
"""


def write(path):
    with open(path, "w") as file:
        file.write(TEXT)
