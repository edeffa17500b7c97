"""What notebooks show: complete, well formed, and nothing in it is taken from a file as it is."""

import html.parser
import unittest

import numpy as np
import small_models as small

import assay

HOSTILE = "<script>alert('x')</script>&\"\u202e\x1b[31m"
SHOWN = "<script>alert('x')</script>&\"\\u202e\\x1b[31m"


class Page(html.parser.HTMLParser):
    """Reads a fragment: the texts of cells by row, captions, what may be folded; raises where tags do not match."""

    KNOWN = {"table", "caption", "thead", "tbody", "tr", "th", "td", "details", "summary"}

    def __init__(self, text):
        super().__init__()
        self.rows, self.captions, self.bold, self._open = [], [], [], []
        self.feed(text)
        self.close()
        if self._open:
            raise AssertionError(f"never closed: {self._open}")

    def handle_starttag(self, tag, attrs):
        if tag not in self.KNOWN:
            raise AssertionError(f"the tag <{tag}> came from somewhere else")
        self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            if "bold" in (dict(attrs).get("style") or ""):
                self.bold.append(len(self.rows) - 1)

    def handle_endtag(self, tag):
        if not self._open or self._open.pop() != tag:
            raise AssertionError(f"</{tag}> closes nothing")

    def handle_data(self, data):
        if self._open[-1] in ("td", "th"):
            self.rows[-1][-1] += data
        else:
            self.captions.append(data)

    def cells(self):
        return [cell for row in self.rows for cell in row]


class Wrong:
    name = HOSTILE

    def __init__(self, factor=2.0):
        self.factor = np.float32(factor)

    def infer(self, feed):
        return {HOSTILE: feed["x"] * self.factor}


def hostile():
    return small.model([small.node("Identity", ["x"], [HOSTILE], HOSTILE)], [("x", "float32", (2, 3))],
                       [(HOSTILE, "float32", (2, 3))])  # fmt: skip


class Html(unittest.TestCase):
    def page(self, thing):
        text = thing._repr_html_()
        text.encode()  # a notebook's file is UTF-8
        self.assertNotIn("<script", text)
        for acting in ("\u202e", "\x1b"):
            self.assertNotIn(acting, text)
            self.assertNotIn(acting, repr(thing))
        return Page(text)

    def test_model(self):
        page = self.page(assay.Model(hostile()))
        self.assertIn(["input", "x", "float32[2, 3]"], page.rows)
        self.assertIn(["output", SHOWN, "float32[2, 3]"], page.rows)
        self.assertIn(["opset", "ai.onnx", "21"], page.rows)
        self.assertIn(["operator", "Identity", "1 node(s)"], page.rows)
        self.assertIn(["Identity", SHOWN, "x", SHOWN], page.rows)

    def test_every_node_and_weight_of_a_model(self):
        model = assay.Model(small.product(2, 16, times=70))
        page = self.page(model)
        shown = [row for row in page.rows if row[0] in ("MatMul", "Relu") and len(row) == 4]
        self.assertEqual([row[1] for row in shown], [n["name"] for n in model.nodes])
        self.assertEqual(len([row for row in page.rows if row[0] in model.initializers]), 70)
        self.assertIn("90 more", page.captions)

    def test_names_that_are_no_text(self):
        data = hostile().replace(SHOWN.encode()[:4], b"\xff\xfe\xc3\x28")
        page = self.page(assay.Model(data))
        self.assertTrue(any(cell.startswith("\\xff\\xfe\\xc3(") for cell in page.cells()), page.cells())

    def test_check_and_diff(self):
        a, b = assay.Model(hostile()), assay.Model(small.identity())
        difference = self.page(a.diff(b))
        self.assertEqual(len(difference.rows), len(a.diff(b)) + 1)
        findings = assay.Findings([assay.Finding("rule", "warning", "assay", HOSTILE, HOSTILE, "Relu")])
        self.assertIn(["warning", "rule", SHOWN, "Relu", SHOWN], self.page(findings).rows)

    def test_simplification(self):
        report = assay.SimplifyReport({"pass": 3}, 1, 0, 0, True, 30, 3, [assay.Refused("other", HOSTILE, HOSTILE)])
        self.assertIn(["edit", "pass", "3"], self.page(report).rows)
        self.assertIn(["left out", f"other at {SHOWN}", SHOWN], self.page(report).rows)

    def test_results_and_comparison(self):
        comparison = assay.compare(hostile(), ["reference", Wrong(1), Wrong()], 2)
        self.assertFalse(comparison)
        page = self.page(comparison)
        self.assertEqual([row[4] for row in page.rows], ["passed", "2/2", "0/2"])
        self.assertEqual([row[2] for row in page.rows[1:]], [SHOWN] * 2)
        self.assertEqual(set(page.bold), {2})
        metrics = comparison.pairs[0].outputs[0].metrics
        self.assertEqual(page.rows[0][5:], list(metrics))
        results = self.page(comparison.results)
        self.assertEqual(len(results.rows), 1 + 3 * 2)
        self.assertEqual(results.rows[-1][:5], [f"{SHOWN}-1", "1", SHOWN, "float32", "(2, 3)"])

    def test_metrics_of_any_function(self):
        f = assay.functions
        comparison = assay.compare(hostile(), ["reference", Wrong()], functions=[f.simple(), f.l2(), f.snr()])
        self.assertLessEqual({m for p in comparison.pairs for o in p.outputs for m in o.metrics}, set(self.page(comparison).rows[0]))

    def test_verdict(self):
        verdict = assay.verdict(hostile(), ["reference", Wrong()])
        page = self.page(verdict)
        self.assertEqual(len(page.rows), 1 + len(verdict.outputs))
        self.assertEqual(page.rows[1][:2], [SHOWN, SHOWN])  # what is wrong comes first
        self.assertIn("WRONG", page.rows[1][3])
        self.assertEqual(set(page.bold), {1})
        wrong = self.page(verdict.wrong[0])
        self.assertIn(["verdict", verdict.wrong[0].verdict], wrong.rows)
        self.assertIn(["beyond", "6"], wrong.rows)

    def test_engine_and_profile(self):
        data = small.model([small.node("Relu", ["x"], [HOSTILE], HOSTILE)], [("x", "float32", ("n", 3))],
                           [(HOSTILE, "float32", ("n", 3))])  # fmt: skip
        engine = assay.build(data, profiles={"x": ((1, 3), (2, 3), (4, 3))}, optimization_level=0)
        page = self.page(engine)
        self.assertIn(["profile 0", "x", "(1, 3) to (4, 3), best (2, 3)"], page.rows)
        self.assertIn(SHOWN, [row[1] for row in page.rows])
        times = engine.create_context().run_with_times({"x": np.zeros((2, 3), np.float32)})[1]
        page = self.page(times)
        self.assertEqual(len(page.rows), 1 + len(times))
        self.assertTrue(any(SHOWN in row[2] for row in page.rows), page.rows)

    def test_whole_run(self):
        accuracy = [assay.Pair("a", HOSTILE, 2, 1, [assay.OutputAccuracy(HOSTILE, "simple", 2, 1, {})])]
        summary = assay.RunSummary("failed", 1, ["a", HOSTILE], 2, accuracy, [f"a/{HOSTILE}"], {"WRONG": 1})
        page = self.page(summary)
        self.assertIn(["a", SHOWN, SHOWN, "1/2"], page.rows)
        self.assertIn(["verdict", "WRONG", "", "1"], page.rows)
        self.assertIn(["NaN or infinity", "a", SHOWN, ""], page.rows)


if __name__ == "__main__":
    unittest.main()
