"""A backend that is really wrong inside a body: ONNX Runtime computes the Softplus of opset 18 in float16 as log(exp(x) + 1),
which is infinite from 88.8 on. The verdict must name that node, the body and the iterations, and nobody else.

usage: bodies_test.py ASSAY
"""
import json
import sys
import tempfile

from classes_test import Classes

HEAD = """  step32 = Constant <value = float[2] {30.0, 1.0}> ()
  step = Cast <to = 10> (step32)
  yes = Constant <value = bool {1}> ()
  five = Constant <value_int = 5> ()
"""
#: name -> graph, and where the wrong nodes are: (what the report says of the place, their number).
CASES = {
    "loop": ("""g (float16[2] x) => (float16[2] y, float16[5,2] ys) {
""" + HEAD + """  [repeat] y, ys = Loop <body = b (int64 i, bool c, float16[2] s) => (bool c2, float16[2] s2, float16[2] t) {
    c2 = Identity (c)
    s2 = Add (s, step)
    [soft] t = Softplus (s2)
  }> (five, yes, x)
}
""", {f"iteration {i} of 'repeat' (Loop)" for i in (2, 3, 4)}),
    "scan": ("""g (float16[2] x) => (float16[2] y, float16[5,2] ys) {
""" + HEAD + """  shape = Constant <value = int64[2] {5, 1}> ()
  rows = Expand (x, shape)
  [walk] y, ys = Scan <num_scan_inputs = 1, body = b (float16[2] s, float16[2] row) => (float16[2] s2, float16[2] t) {
    s1 = Add (s, step)
    s2 = Identity (s1)
    [soft] p = Softplus (s1)
    t = Add (p, row)
  }> (x, rows)
}
""", {f"iteration {i} of 'walk' (Scan)" for i in (2, 3, 4)}),
    "if": ("""g (float16[2] x) => (float16[2] y) {
""" + HEAD + """  [choice] z = If <then_branch = t () => (float16[2] a) {
    factor32 = Constant <value = float[2] {120.0, 1.0}> ()
    factor = Cast <to = 10> (factor32)
    s = Mul (x, factor)
    [soft] p = Softplus (s)
    a = Neg (p)
  }, else_branch = e () => (float16[2] b) {
    b = Neg (x)
  }> (yes)
  y = Neg (z)
}
""", {"branch of 'choice' (If)"}),
    "if_in_loop": ("""g (float16[2] x) => (float16[2] y, float16[5,2] ys) {
""" + HEAD + """  three = Constant <value_int = 3> ()
  [repeat] y, ys = Loop <body = b (int64 i, bool c, float16[2] s) => (bool c2, float16[2] s2, float16[2] t) {
    c2 = Identity (c)
    s2 = Add (s, step)
    late = Equal (i, three)
    [choice] t = If <then_branch = th () => (float16[2] u) {
      [soft] u = Softplus (s2)
    }, else_branch = el () => (float16[2] v) {
      v = Neg (s2)
    }> (late)
  }> (five, yes, x)
}
""", {"iteration 3 of 'repeat' (Loop)"}),
    "function_in_loop": ("""g (float16[2] x) => (float16[2] y, float16[5,2] ys) {
""" + HEAD + """  [repeat] y, ys = Loop <body = b (int64 i, bool c, float16[2] s) => (bool c2, float16[2] s2, float16[2] t) {
    c2 = Identity (c)
    s2 = Add (s, step)
    t = local.Softer (s2)
  }> (five, yes, x)
}
<domain: "local", opset_import: ["" : 18]>
Softer (v) => (w)
{
  [soft] p = Softplus (v)
  w = Neg (p)
}
""", {f"iteration {i} of 'repeat' (Loop)" for i in (2, 3, 4)}),
}


def main():
    with tempfile.TemporaryDirectory() as folder:
        classes = Classes(sys.argv[1], folder)
        classes.head = '<ir_version: 9, opset_import: ["" : 18, "local" : 1]>\n'
        verdict = classes.folder / "verdict.json"
        for name, (model, places) in CASES.items():
            text = classes.run(model, "--onnxrt", "--arbiter", "--val-range", "[1,1]", "--save-verdict", verdict, code=1)
            outputs = json.loads(verdict.read_text())["iterations"][0]["traced"]["outputs"]
            wrong = [o for o in outputs if o["verdict"] == "WRONG"]
            assert wrong and all("soft" in o["node"] and o["op_type"] == "Softplus" for o in wrong), (name, wrong, text[-3000:])
            found = {o["body"] for o in wrong}
            assert len(found) == len(places) and all(any(p in f for f in found) for p in places), (name, found, text[-3000:])
            assert "soft' (Softplus)" in text and "First Divergence" in text, text[-3000:]
            # One screen: the outputs of the traced run are not listed, and nobody is told to trace again.
            assert "mark more outputs" not in text, text
            assert len(text.splitlines()) <= 50, text
            # As float32 the same network is right.
            plain = model.replace("float16", "float").replace("to = 10", "to = 1")
            classes.run(plain, "--onnxrt", "--arbiter", "--val-range", "[1,1]", code=0)
            print(name, sorted(found), "ok", flush=True)


if __name__ == "__main__":
    main()
