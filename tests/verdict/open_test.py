"""What ONNX leaves open, and what it does not although it looks like it, each in a small model.

usage: open_test.py ASSAY
"""
import json
import sys
import tempfile

from classes_test import Classes, npy, results

INT_MAX = 2**31 - 1


class Open(Classes):
    def judged(self, model, feed, *outputs, marked=True):
        """The verdict's word for each output of a run that gave `outputs`, each name -> npy arguments."""
        inputs = self.file("in.json", json.dumps([{n: npy(*v) for n, v in feed.items()}]))
        words = []
        for given in outputs:
            verdict = self.folder / "verdict.json"
            self.file("out.json", results(given))
            done = self.attempt(model, "--arbiter", "--load-inputs", inputs, "--load-outputs", self.folder / "out.json",
                                "--save-verdict", verdict, *(["--onnx-outputs", "mark", "all"] if marked else []))
            found = {o["output"]: o["verdict"] for o in json.loads(verdict.read_text())["iterations"][0]["outputs"]}
            assert done.returncode == (1 if "WRONG" in found.values() else 0), done.stdout + done.stderr
            words.append([found[n] for n in given])
        return words

    def top_k_in_any_order(self):
        model = "g (float[2,5] x, int64[1] k) => (float[2,3] y, int64[2,3] at) {\n  y, at = TopK <axis = 1, sorted = 0> (x, k)\n}\n"
        feed = {"x": ((2, 5), [1.0, 5.0, 3.0, 4.0, 2.0, 0.0, -1.0, 7.0, 7.0, 6.0]), "k": ((1,), [3], "<i8", "q")}
        values = lambda *v: ((2, 3), list(v))
        places = lambda *v: ((2, 3), list(v), "<i8", "q")
        words = self.judged(
            model, feed,
            {"y": values(5, 4, 3, 7, 7, 6), "at": places(1, 3, 2, 2, 3, 4)},
            {"y": values(3, 5, 4, 6, 7, 7), "at": places(2, 1, 3, 4, 3, 2)},
            {"y": values(3, 5, 2, 6, 7, 7), "at": places(2, 1, 4, 4, 3, 2)},
            {"y": values(3, 5, 4, 6, 7, 7), "at": places(2, 1, 1, 4, 3, 2)},
            {"y": values(3, 5, 4, 6, 7, 7), "at": places(1, 2, 3, 4, 3, 2)},
            {"y": values(3, 5, 4, 6, 7, 7), "at": places(2, 1, 3, 4, 3, 9)})
        assert words == [["agrees", "agrees"], ["left open by ONNX"] * 2, ["WRONG", "WRONG"], ["left open by ONNX", "WRONG"],
                         ["left open by ONNX", "WRONG"], ["left open by ONNX", "WRONG"]], words
        words = self.judged(model.replace("sorted = 0", "sorted = 1"), feed,
                            {"y": values(3, 5, 4, 6, 7, 7), "at": places(2, 1, 3, 4, 3, 2)})
        assert words == [["WRONG", "WRONG"]], words

    def integer_overflow(self):
        ints = lambda *v: ((len(v),), list(v), "<i4", "i")
        for op, a, b, right, open_ones, wrong in (
                ("Add", (INT_MAX, 5), (1, 6), (-INT_MAX - 1, 11), ((INT_MAX, 11), (0, 11)), ((INT_MAX, 12), (-INT_MAX - 1, 12))),
                ("Mul", (65536, 3), (65536, 4), (0, 12), ((INT_MAX, 12),), ((0, 13),)),
                ("Sub", (-INT_MAX - 1, 3), (1, 4), (INT_MAX, -1), ((-INT_MAX - 1, -1),), ((INT_MAX, 0),))):
            model = f"g (int32[2] a, int32[2] b) => (int32[2] y) {{\n  y = {op} (a, b)\n}}\n"
            words = self.judged(model, {"a": ints(*a), "b": ints(*b)}, *({"y": ints(*v)} for v in (right, *open_ones, *wrong)))
            expected = [["agrees"]] + [["left open by ONNX"]] * len(open_ones) + [["WRONG"]] * len(wrong)
            assert words == expected, (op, words)

    def casts_out_of_range(self):
        model = "g (float[3] x) => (int32[3] y) {\n  y = Cast <to = 6> (x)\n}\n"
        ints = lambda *v: ((3,), list(v), "<i4", "i")
        feed = {"x": ((3,), [3e9, float("nan"), 2.5])}
        words = self.judged(model, feed, {"y": ints(INT_MAX, 0, 2)}, {"y": ints(-INT_MAX - 1, -INT_MAX - 1, 2)},
                            {"y": ints(INT_MAX, 0, 3)}, {"y": ints(-INT_MAX - 1, 7, 3)})
        assert words[0][0] in ("agrees", "left open by ONNX") and words[1:] == [["left open by ONNX"], ["WRONG"], ["WRONG"]], words

    def interpolated_integers(self):
        model = """g (uint8[1,1,1,2] x) => (uint8[1,1,1,4] y) {
  scales = Constant <value = float[4] {1.0, 1.0, 1.0, 2.0}> ()
  y = Resize <mode = "linear"> (x, , scales)
}
"""
        bytes_of = lambda *v: ((1, 1, 1, len(v)), list(v), "|u1", "B")
        feed = {"x": bytes_of(10, 13)}  # 10, 10.75, 12.25, 13
        words = self.judged(model, feed, *({"y": bytes_of(*v)} for v in ((10, 11, 12, 13), (10, 10, 12, 13), (10, 10, 13, 13),
                                                                        (10, 9, 12, 13), (11, 11, 12, 13))), marked=False)
        assert words == [["agrees"], ["left open by ONNX"], ["left open by ONNX"], ["WRONG"], ["WRONG"]], words

    def random_numbers_are_shared(self):
        """The engine and the reference draw the same; others may draw what they like."""
        model = """g (float[4] x) => (float[4] y, float[4] z, float[4] w, float[4] m) {
  a = RandomNormalLike <seed = 7.0> (x)
  b = RandomUniformLike (x)
  y = Add (a, x)
  z = Add (b, x)
  w = Bernoulli (x)
  c = RandomNormal <shape = [4]> ()
  d = RandomUniform <shape = [4], seed = 7.0> ()
  m = Mul (c, d)
}
"""
        for marks in ([], ["--onnx-outputs", "mark", "all"]):
            text = self.run(model, "--engine", "--ref", *marks, code=0)
            assert "left open" not in text and "0 wrong" in text, text[-3000:]
        inputs = self.file("in.json", json.dumps([{"x": npy((4,), [0.5] * 4)}]))
        other = self.file("out.json", results({n: ((4,), [1.0, 0.0, 1.0, 1.0]) for n in "yzwm"}))
        text = self.run(model, "--arbiter", "--load-inputs", inputs, "--load-outputs", other, code=0)
        assert "left open by ONNX" in text, text[-3000:]


def main():
    with tempfile.TemporaryDirectory() as folder:
        classes = Open(sys.argv[1], folder)
        for name in ("top_k_in_any_order", "integer_overflow", "casts_out_of_range", "interpolated_integers",
                     "random_numbers_are_shared"):
            getattr(classes, name)()
            print(name, "ok", flush=True)


if __name__ == "__main__":
    main()
