#!/usr/bin/env python3
"""The viewer's page: saves pages of models and a plan, and runs the tests of the page's scripts in Node.js.

    viewer_test.py BINARY FOLDER        the folder holds the page's scripts

Without Node.js (the program `node`) what is left is that pages are written: skipped in part, with a line.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
NESTED = """<ir_version: 8, opset_import: ["" : 17, "my" : 1]>
nested (float[2] x, int64 n, bool c) => (float[2] z, float[2] y)
<float[2] outer = {1, 2}>
{
   [call] q = my.Fn <alpha = 1.5> (x)
   [loop] z = Loop (n, , q) <body = b (int64 i, bool cin, float[2] s) => (bool cout, float[2] so) {
      cout = Identity (cin)
      [loopadd] so = Add (s, outer)
   }>
   [choose] y = If (c) <then_branch = t () => (float[2] yt) { yt = Neg (x) }, else_branch = e () => (float[2] ye) { ye = Neg (outer) }>
}
<domain: "my", opset_import: ["" : 17]>
Fn <alpha> (a) => (b)
{
   b = Elu <alpha: float = @alpha> (a)
}
"""


# A plan of it has no layer for the Flatten, which only sees a tensor in another shape.
VIEWS = """<ir_version: 8, opset_import: ["" : 17]>
views (float[1,2,2] x) => (float[1,3] y)
<float[4,3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}>
{
   r = Relu (x)
   f = Flatten (r)
   [product] y = MatMul (f, w)
}
"""


def varint(n):
    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)


def field(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def node(inputs, outputs, op, name, attributes=()):
    return field(1, b"".join([*(field(1, i) for i in inputs), *(field(2, o) for o in outputs), field(3, name), field(4, op),
                              *(field(5, field(1, key) + field(4, text) + b"\xa0\x01\x03") for key, text in attributes)]))


def model(name, nodes, inputs, outputs):
    """A model as bytes: names may be anything."""
    float_type = field(2, field(1, b"\x08\x01" + field(2, field(1, b"\x08\x02"))))
    graph = b"".join([*nodes, field(2, name), *(field(11, field(1, i) + float_type) for i in inputs),
                      *(field(12, field(1, o) + float_type) for o in outputs)])
    return b"\x08\x08" + field(7, graph) + field(8, b"\x10\x11")


def write_models(folder):
    (folder / "nested.onnxtxt").write_text(NESTED)
    (folder / "views.onnxtxt").write_text(VIEWS)
    bad = b"</script><script>alert(1)</script><!--\n"
    nodes = [node([bad], [b"__proto__"], b"Relu", bad, [(b"__proto__", b"constructor"), (bad, bad)]), node([b"__proto__"], [b"y"], b"Neg", b"hasOwnProperty")]
    (folder / "hostile.onnx").write_bytes(model(bad, nodes, [bad], [b"y"]))
    count = 20000
    nodes = [node([b"t%d" % i], [b"t%d" % (i + 1)], b"Relu", b"relu%d" % i) for i in range(count)]
    (folder / "large.onnx").write_bytes(model(b"large", nodes, [b"t0"], [b"t%d" % count]))


def nodes_of(page):
    return json.loads(re.search(r'id="model">(.*?)</script>', page.read_text())[1])["nodes"]


def check_plan(page):
    """Layers are joined by names, and what they compute leads to the outputs."""
    nodes = nodes_of(page)
    made = {v["name"] for n in nodes.values() for v in n["outputs"]}
    lost = [(key, v["name"]) for key, n in nodes.items() for v in n["inputs"] if v["name"] and not v["name"].startswith("Initializer | ") and v["name"] not in made]
    assert not lost, f"nothing computes {lost}"
    product = next(n for n in nodes.values() if "product" in n["name"])
    assert product["origin"] == "product" and product["tactic"] and product["inputs"][0]["docstring"] == "Seen as f", product
    assert product["inputs"][1]["name"].startswith("Initializer | w"), product


def main():
    assay, scripts = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_models(folder)
        commands = [f"inspect model {file} --save-visual {pathlib.Path(file).stem}.html" for file in ("nested.onnxtxt", "hostile.onnx", "large.onnx")]
        for name in ("nested", "views"):
            commands += [f"convert {name}.onnxtxt -o {name}.plan --builder-optimization-level 0", f"inspect model {name}.plan --save-visual {name}_plan.html"]
        for command in commands:
            done = subprocess.run([assay, *command.split()], cwd=folder, capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(f"{command}\n{done.stdout}{done.stderr}")
        check_plan(folder / "views_plan.html")
        node_program = shutil.which("node")
        if node_program is None:
            print("skipped in part: there is no Node.js (`node`), which runs the tests of the page's scripts: layout_test.js, modules_test.js")
            return 77
        for script, argument in (("layout_test.js", scripts / "layout.js"), ("modules_test.js", scripts)):
            if subprocess.run([node_program, HERE / script, argument]).returncode != 0:
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
