#!/usr/bin/env python3
"""Pages of models, plans, results and commands in a real browser, from disk: what is shown, found, opened, coloured and saved, that
names do nothing, and that nothing is asked for over a network.

    browser_test.py BINARY FOLDER [NAME...]     the folder gets pictures; names choose checks
"""

import base64
import contextlib
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import browser
import viewer_test

ASSAY = os.path.abspath(sys.argv[1])
PICTURES = pathlib.Path(sys.argv[2])


def assay(folder, *words, status=0):
    done = subprocess.run([ASSAY, *words], cwd=folder, capture_output=True, text=True)
    assert done.returncode == status, f"{' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


class Page(browser.Browser):
    """A browser with the words of our page."""

    def show(self, path, fragment=""):
        self.open(pathlib.Path(path).absolute().as_uri() + fragment)
        assert self.js("document.documentElement.dataset.ready") == "yes", self.text("problem")
        assert self.problems() == [], self.problems()

    def picture(self, name):
        PICTURES.mkdir(parents=True, exist_ok=True)
        self.screenshot(PICTURES / f"{name}.png")

    def place(self, item, dx=0, dy=8):
        """Where an item (an expression) is on the screen: the middle of its top edge, and a bit below."""
        return self.js(f"(() => {{ const v = app.view, [x, y] = v.placeOf({item}), [sx, sy] = v.toScreen(x, y), r = v.canvas.getBoundingClientRect(); return [r.left + sx + {dx}, r.top + sy + {dy}]; }})()")

    def visible(self):
        return self.js("Scene.visibleCount(app.view.root)")

    def details(self):
        return self.text("details")

    def find(self, words):
        self.type("query", words)
        return self.text("found")


def tower(folder, layers):
    """Layers of fourteen nodes with scopes in their names, and the same without names."""
    for name, has_names in (("scoped", True), ("nameless", False)):
        nodes, x = [], b"x"
        for k in range(layers):
            def add(op, inputs, scope):
                nodes.append(viewer_test.node(inputs, [b"t%d" % len(nodes)], op, b"/model/layers.%d/%s/%s" % (k, scope, op) if has_names else b""))
                return b"t%d" % (len(nodes) - 1)
            h = add(b"LayerNormalization", [x], b"ln1")
            q, key, v = (add(b"MatMul", [h], b"attn/" + s) for s in (b"q", b"k", b"v"))
            a = add(b"MatMul", [add(b"Softmax", [add(b"Einsum", [q, key], b"attn/qk")], b"attn/soft"), v], b"attn/av")
            x = add(b"Add", [x, add(b"MatMul", [a], b"attn/o")], b"sum1")
            h = add(b"Gelu", [add(b"MatMul", [add(b"LayerNormalization", [x], b"ln2")], b"mlp/up")], b"mlp/act")
            x = add(b"Add", [x, add(b"MatMul", [h], b"mlp/down")], b"sum2")
        (folder / f"{name}.onnx").write_bytes(viewer_test.model(b"tower", nodes, [b"x"], [x]))


def write_files(folder):
    viewer_test.write_models(folder)
    tower(folder, 60)
    assay(folder, "template", "model", "mnist-cnn", "-o", "m.onnx")
    assay(folder, "convert", "m.onnx", "-o", "m.plan", "--builder-optimization-level", "0")
    for name in ("nested.onnxtxt", "large.onnx", "scoped.onnx", "nameless.onnx", "m.onnx", "m.plan"):
        assay(folder, "view", name, "-o", f"{name.split('.')[0]}_{name.split('.')[1]}.html")


def check_folding(page, folder):
    """A large graph starts with few boxes, opens and closes by clicks and keys, and says where one is."""
    for name in ("scoped", "nameless"):
        page.show(folder / f"{name}_onnx.html")
        assert page.visible() < 100, page.visible()
        assert page.js("app.view.items.roots[0].count") == 840
    page.show(folder / "scoped_onnx.html")
    page.picture("scoped")
    first = "app.view.root.children.find((c) => c.kind === 'scope').children[0]"
    page.js(f"app.view.go({first})")
    page.settle()
    before = page.visible()
    page.click(*page.place(first), count=2)
    assert page.js(f"{first}.isOpen") and page.visible() > before, "a double click opens"
    trail = page.text("trail")
    assert "tower" in trail and "›" in trail, trail
    page.js("app.view.canvas.focus()")
    page.key("Enter")
    assert not page.js(f"{first}.isOpen"), "Enter closes what is selected"
    page.key("Enter")
    place = page.place(first)
    page.key("Enter")
    after = page.place(first)
    assert abs(place[0] - after[0]) < 1 and abs(place[1] - after[1]) < 1, "what is closed stays where it is"
    page.key("Escape")
    page.key("e")
    assert page.visible() > 840, "e opens everything"
    page.picture("scoped_open")
    page.key("c")
    assert page.visible() < 100, "c closes everything"
    # A click on the way leads up.
    assert page.js("app.view.goTo('node_3')")
    page.settle()
    assert page.js("app.view.selected.node.node_id") == "node_3" and page.js("app.view.isShown(app.view.selected)")
    page.js("document.querySelector('#trail button').click()")
    page.settle()
    assert page.js("app.view.selected") is None
    # The overview moves the view.
    page.key("e")
    y = page.js("app.view.camera.y")
    box = page.js("(() => { const r = document.getElementById('minimap').getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height * 0.8]; })()")
    page.click(*box)
    assert page.js("app.view.camera.y") > y, "a click in the overview goes there"


def check_search(page, folder):
    page.show(folder / "nested_onnxtxt.html")
    assert page.find("loopadd") == "1 node"
    assert page.find("op:Neg") == "2 nodes"
    assert page.find("loop::op:Add") == "1 node"
    assert page.find("choose::then_branch::*") == "1 node"
    assert page.find("re:(") and "node" not in page.text("found"), "an expression that is none is said to be that"
    assert page.find("no such thing") == "0 nodes"
    page.find("op:Neg")
    page.key("ArrowDown")
    first = page.js("app.view.selected.node.node_id")
    page.key("Enter")
    assert page.js("app.view.selected.node.node_id") != first and page.js("app.view.isShown(app.view.selected)")
    assert page.details().startswith("Neg"), page.details()
    page.show(folder / "large_onnx.html")
    assert page.find("relu") == "20000 nodes, the first 200:"
    assert page.find("relu1999?") == "10 nodes", page.text("found")
    page.key("Enter")
    assert page.js("app.view.selected.node.name") == "relu19990"


def stats(folder):
    assay(folder, "inspect", "model", "m.onnx", "--stats", "--json", "stats.json")
    return json.loads((folder / "stats.json").read_text())


def check_costs(page, folder):
    """The panel's numbers are those of `inspect model --stats`; colours follow them."""
    page.show(folder / "m_onnx.html")
    counted = stats(folder)
    layers = {layer["name"]: layer for layer in counted["layers"]}
    for name, layer in layers.items():
        have = page.js(f"(() => {{ const i = app.sides[0].items, id = i.idOf({json.dumps(name)}); return [id].concat(i.payload.costs[id]); }})()")
        assert have[1] == layer["macs"], (name, have, layer)
    page.js("app.view.goTo(app.sides[0].items.idOf('/conv1/Conv'))")
    page.settle()
    text = page.details()
    assert "multiply-accumulates" in text and "627k" in text and "%" in text, text
    assert page.js("app.sides[0].metrics.find((m) => m.key === 'macs').of(app.view.root)") == counted["macs"]
    page.choose("color", "macs")
    colours = page.js("['/conv2/Conv', '/relu1/Relu'].map((n) => app.colorOf(app.sides[0], app.sides[0].items.leafOf.get(app.sides[0].items.idOf(n))))")
    assert colours[0] != colours[1], colours
    assert page.js("document.querySelectorAll('#legend .swatch').length") > 1
    # What is drawn is that colour.
    drawn = page.js("(() => { const v = app.view, leaf = v.items.leafOf.get(v.items.idOf('/conv2/Conv')); v.select(null); v.frame(leaf); v.draw(); const [x, y] = v.toScreen(...v.placeOf(leaf)); return [...v.pen.getImageData(Math.round(x + (leaf.box.w / 2) * v.camera.scale - 8), Math.round(y + 5), 1, 1).data].slice(0, 3); })()")
    assert drawn == [int(n) for n in re.findall(r"\d+", colours[0])], (drawn, colours[0])
    page.choose("color", "precision")
    page.picture("precision")


def check_results(page, folder):
    """A verdict, results, a profile and a trace beside their model."""
    assay(folder, "run", "m.onnx", "--ref", "--engine", "--onnx-outputs", "mark", "all", "--save-verdict", "v.json", "--save-outputs", "r.json")
    assay(folder, "bench", "m.onnx", "--iterations", "3", "--duration", "0", "--warm-up", "0", "--export-profile", "p.json", "--export-timeline", "t.json", "--json", "b.json")
    assay(folder, "view", "r.json", "m.onnx", "v.json", "p.json", "t.json", "b.json", "--weights", "-o", "all.html")
    page.show(folder / "all.html")
    verdicts = json.loads((folder / "v.json").read_text())["iterations"][0]["outputs"]
    worst = max((v for v in verdicts if v["output"] == "/conv1/Conv_output_0"), key=lambda v: v["ratio"])
    assert page.js("app.sides[0].metrics.find((m) => m.key === 'ratio').of(app.sides[0].items.leafOf.get(app.sides[0].items.idOf('/conv1/Conv')))") == worst["ratio"]
    layers = [x for x in json.loads((folder / "p.json").read_text()) if "name" in x]
    total = page.js("app.sides[0].metrics.find((m) => m.key === 'time').of(app.view.root)")
    # The profile was saved twice: by itself, and among the measurements.
    assert total > 0 and page.js("app.sides[0].metrics.find((m) => m.key === 'time').unmatched.length") <= 2 * len(layers)
    page.js("app.view.goTo(app.sides[0].items.idOf('/conv1/Conv'))")
    page.settle()
    text = page.details()
    assert "verdict" in text and ("agrees" in text or "rounding only" in text), text
    assert page.js("document.querySelectorAll('#details canvas.picture').length") >= 4, "histograms and heat maps of weights and results"
    page.picture("results")
    for key in ("verdict", "ratio", "time", "range"):
        page.choose("color", key)
        assert page.js("app.metric") == key
    page.js("document.getElementById('tab-report').click()")
    page.settle()
    report = page.text("report-panel")
    assert "Verdicts" in report and "Times of layers" in report and "Measurements" in report, report[:500]
    rows = page.js("[...document.querySelectorAll('#report-panel section')].find((s) => s.querySelector('h2').textContent === 'Verdicts').querySelectorAll('tbody tr').length")
    assert rows == 20 and len(verdicts) > 20, rows
    page.js("[...document.querySelectorAll('#report-panel section')].find((s) => s.querySelector('h2').textContent === 'Verdicts').querySelector('.more').click()")
    rows = page.js("[...document.querySelectorAll('#report-panel section')].find((s) => s.querySelector('h2').textContent === 'Verdicts').querySelectorAll('tbody tr').length")
    assert rows == len(verdicts), "all on request"
    page.picture("report")
    page.js("document.querySelector('#report-panel td .link').click()")
    page.settle()
    assert not page.js("document.getElementById('graph-panel').hidden") and page.js("app.view.selected !== null"), "a name leads to its node"
    page.js("document.getElementById('tab-timeline').click()")
    page.settle()
    sums = dict(page.js("app.timelines[0].sums().map(([n, s]) => [n, s.time])"))
    events = [e for e in json.loads((folder / "t.json").read_text())["traceEvents"] if e["ph"] == "X"]
    for name in {e["name"] for e in events}:
        assert abs(sums[name] - sum(e["dur"] for e in events if e["name"] == name)) < 1e-6 * sums[name] + 1e-9, name
    page.js("app.timelines[0].choose(app.timelines[0].lanes[1].bars[0])")
    assert page.text("event"), "an event says what it is"
    page.picture("timeline")


def check_export(page, folder):
    page.show(folder / "m_onnx.html")
    svg = page.js("Export.svg(app.view, true)")
    root = xml.etree.ElementTree.fromstring(svg)
    texts = [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "/conv1/Conv" in texts and "Softmax" in texts, texts
    assert float(root.get("width")) > 50 and float(root.get("height")) > 500
    data = page.js("Export.png(app.view, true).then((b) => b.arrayBuffer()).then((a) => btoa(Array.from(new Uint8Array(a), (c) => String.fromCharCode(c)).join('')))")
    png = base64.b64decode(data)
    assert png.startswith(b"\x89PNG") and struct.unpack(">II", png[16:24])[1] > 500, png[:30]
    # The buttons save files.
    with tempfile.TemporaryDirectory() as target:
        page.call("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": target})
        page.js("document.getElementById('svg').click()")
        for _ in range(200):
            if list(pathlib.Path(target).glob("*.svg")):
                break
            page.settle()
        assert [f.name for f in pathlib.Path(target).glob("*.svg")] == ["mnist_cnn.svg"], list(pathlib.Path(target).iterdir())
    assert page.problems() == [], page.problems()


def check_hostile(page, folder):
    """Names are text: markup, other directions, control characters, prototypes, a megabyte."""
    wild = [b"</script><script>alert(1)</script><!--", b"<img src=x onerror=alert(1)>", b"javascript:alert(1)", b"\xe2\x80\xaeevil\xe2\x80\xac", b"\x00\x07\x1b[31m\n", b"__proto__",
            b"constructor", b"n" * (1 << 20), b"&lt;b&gt;", b"'\"`${alert(1)}", b"/".join([b"deep"] * 3000), b"\xff\xfe"]
    nodes, x = [], b"x"
    for i, name in enumerate(wild * 30):
        if len(name) > 100000 and i > len(wild):
            continue
        y = name + b"%d" % i
        nodes.append(viewer_test.node([x], [y], name[:2000], y, [(name[:2000], name[:2000])]))
        x = y
    (folder / "wild.onnx").write_bytes(viewer_test.model(wild[0], nodes, [b"x"], [x]))
    assay(folder, "view", "wild.onnx", "-o", "wild.html")
    page.show(folder / "wild.html")
    assert page.js("document.querySelectorAll('script').length") == 4 and page.js("document.querySelectorAll('img').length") == 0
    page.js("app.view.toggleAll(app.view.root, true)")
    for i in range(len(wild)):
        assert page.js(f"app.view.goTo('node_{i}')"), i
        page.settle()
    page.find("alert")
    page.find("re:.*evil.*")
    page.key("Enter")
    page.js("Export.svg(app.view, true).length")
    xml.etree.ElementTree.fromstring(page.js("Export.svg(app.view, false)"))
    assert page.js("document.querySelectorAll('script').length") == 4 and page.js("document.querySelectorAll('img, iframe, object, embed, link').length") == 0
    assert page.problems() == [], page.problems()
    # The same in a report.
    finding = {"summary": {}, "lint_entries": [{"level": "exception", "source": "s", "message": w.decode("utf-8", "replace")[:5000], "nodes": [w.decode("utf-8", "replace")[:5000]], "rule": "r"} for w in wild]}
    (folder / "findings.json").write_text(json.dumps(finding))
    assay(folder, "view", "findings.json", "-o", "findings.html")
    page.show(folder / "findings.html")
    assert page.js("document.querySelectorAll('script').length") == 4 and page.js("document.querySelectorAll('img').length") == 0
    assert "<img src=x onerror=alert(1)>" in page.text("report-panel")


def check_damaged(page, folder):
    """What can be read is shown, with the error in its place."""
    data = (folder / "scoped.onnx").read_bytes()
    (folder / "cut.onnx").write_bytes(data[:len(data) // 2])
    text = assay(folder, "view", "cut.onnx", "-o", "cut.html", status=1)
    assert "Showing what can be read" in text, text
    page.show(folder / "cut.html")
    count = page.js("app.sides[0].items.nodes.size")
    assert 300 < count < 500, count
    assert page.js("document.querySelectorAll('#details .problem').length") == 1, "the graph's panel says what is wrong"
    page.choose("color", "problem")
    place = page.js("Object.values(app.sides[0].items.payload.nodes).filter((n) => n.problem).map((n) => n.node_id)")
    assert len(place) == 1, place
    page.js(f"app.view.goTo('{place[0]}')")
    assert page.js("document.querySelectorAll('#details .problem').length") == 1
    nodes = [viewer_test.node([b"x"], [b"a"], b"Relu", b"one"), viewer_test.node([b"missing"], [b"b"], b"Neg", b"two")]
    (folder / "dangling.onnx").write_bytes(viewer_test.model(b"g", nodes, [b"x"], [b"b"]))
    assay(folder, "view", "dangling.onnx", "-o", "dangling.html", status=1)
    page.show(folder / "dangling.html")
    assert page.js("app.sides[0].items.nodes.size") == 4
    # Other files end in a sentence, and leave none behind.
    (folder / "noise.onnx").write_bytes(bytes(range(256)) * 8)
    assay(folder, "view", "noise.onnx", "-o", "none.html", status=1)
    (folder / "cut.json").write_text('{"iterations": [{"outputs": [')
    assert "cut.json" in assay(folder, "view", "cut.json", "-o", "none.html", status=1)
    assert "No such file" in assay(folder, "view", "nothing.onnx", "-o", "none.html", status=1)
    assert "3 graphs" in assay(folder, "view", "m.onnx", "m.onnx", "m.plan", "-o", "none.html", status=1)
    assert not (folder / "none.html").exists()
    # A page whose data have been damaged says so.
    page_text = (folder / "m_onnx.html").read_text()
    (folder / "broken.html").write_text(page_text.replace('"graphs":', '"graphs', 1))
    page.open((folder / "broken.html").as_uri())
    assert "cannot be shown" in page.text("problem")


def check_pairs(page, folder):
    """Two models, and a model with its plan: what belongs together."""
    assay(folder, "surgeon", "sanitize", "m.onnx", "-o", "clean.onnx", "--fold-constants", "--report", "clean.html")
    assay(folder, "view", "m.onnx", "m.plan", "-o", "plan.html")
    page.show(folder / "plan.html")
    assert page.js("app.sides.length") == 2 and not page.js("document.getElementById('pane-2').hidden")
    page.js("app.sides[0].view.goTo(app.sides[0].items.idOf('/conv1/Conv'))")
    page.settle()
    text = page.details()
    assert re.search("in the other model", text, re.I) and "⇄" in text, text
    page.picture("plan")
    page.js("document.querySelector('#details .jump[type=button]:last-of-type')")
    layer = page.js("app.matching.of(0, app.sides[0].items.idOf('/conv1/Conv'))[0]")
    origin = page.js(f"app.sides[1].items.nodes.get('{layer}').origin")
    assert "/conv1/Conv" in origin, origin
    page.js("document.getElementById('tab-report').click()")
    assert "Layers of the plan" in page.text("report-panel")
    page.show(folder / "clean.html")
    assert "Before and after" in page.text("report-panel") and page.js("app.sides.length") == 2
    same = page.js("[...app.sides[0].items.nodes.values()].filter((n) => n.kind === 'node').map((n) => app.matching.of(0, n.node_id).length)")
    assert sum(same) >= 10, same


def check_reports(page, folder):
    """Every command that has --report writes a page that opens, also when it fails."""
    (folder / "bad.onnxtxt").write_text('<ir_version: 8, opset_import: ["" : 17]>\ng (float[2] x) => (float[2] y) { [first] y = Nothing (x) }\n')
    (folder / "other.onnxtxt").write_text(viewer_test.VIEWS.replace("Relu", "Neg"))
    lines = [("run", ["run", "m.onnx", "--ref", "--engine"], 0, ["Verdicts", "Runners", "Passed"]),
             ("bench", ["bench", "m.onnx", "--iterations", "3", "--duration", "0", "--warm-up", "0"], 0, ["Measurements", "Times of layers"]),
             ("convert", ["convert", "m.onnx", "-o", "c.plan", "--builder-optimization-level", "0"], 0, ["Layers of the plan"]),
             ("lint", ["check", "lint", "bad.onnxtxt", "--no-onnxrt"], 1, ["Findings", "not valid"]),
             ("diff", ["inspect", "diff", "views.onnxtxt", "other.onnxtxt"], 1, ["Differences", "differ"]),
             ("sanitize", ["surgeon", "sanitize", "m.onnx", "-o", "s.onnx", "--fold-constants"], 0, ["Before and after"]),
             ("nan", ["debug", "nan", "m.onnx"], 0, ["Log"]),
             ("failed", ["run", "bad.onnxtxt", "--ref"], 1, ["Failed", "Nothing"])]
    for name, words, status, expected in lines:
        assay(folder, *words, "--report", f"report_{name}.html", status=status)
        page.show(folder / f"report_{name}.html")
        text = page.text("report-panel")
        assert "exit status" in text and f"\n{status}\n" in text and "Log" in text, (name, text[:400])
        for part in expected:
            assert part in text, (name, part, text[:800])
        if name not in ("failed",):
            assert page.js("app.sides.length") >= 1, f"{name}: the model is there, too"
        page.picture(f"report_{name}")
    page.show(folder / "report_bench.html")
    page.js("document.getElementById('tab-timeline').click()")
    page.settle()
    assert page.js("app.timelines[0].sums().length") > 3


def chain(folder):
    """Products and Relus, one of which a module of the build computes wrong in one tactic; a product whose weights float16 cannot hold."""
    import random
    draw = random.Random(3)
    for name, nodes, hot in (("relus", [("MatMul", "product{}"), ("CumSum", "sum{}"), ("Relu", "wrong{}")], ()), ("hot", [("MatMul", "product{}"), ("Tanh", "tanh{}")], (2,))):
        lines, weights, at = [], [], "x"
        for k in range(4):
            weights.append(f"float[8,8] w{k} = {{{', '.join(f'{draw.uniform(-1, 1) * (1e5 if k in hot else 0.5):.9g}' for _ in range(64))}}}")
            for op, label in nodes:
                text = label.format(k) if op != "Relu" or k == 2 else f"relu{k}"
                lines.append(f"  [{text}] v{len(lines)} = {op} ({at}{f', w{k}' if op == 'MatMul' else ', axis' if op == 'CumSum' else ''})")
                at = f"v{len(lines) - 1}"
        (folder / f"{name}.onnxtxt").write_text('<ir_version: 8, opset_import: ["" : 17]>\nchain (float[4,8] x) => (float[4,8] ' + at + ")\n  <"
                                                + ",\n   ".join(weights) + ">\n{\n  axis = Constant <value_int = 1> ()\n" + "\n".join(lines) + "\n}\n")


def rows(page, title):
    """The cells of a table of the report."""
    return page.js(f"""(() => {{
      const head = [...document.querySelectorAll('#report-panel h2, #report-panel h3')].find((h) => h.innerText.trim() === {json.dumps(title)});
      let e = head;
      while (e && !(e.matches('table') || e.querySelector?.('table'))) e = e.nextElementSibling ?? e.parentElement.nextElementSibling;
      const table = e?.matches('table') ? e : e?.querySelector('table');
      return [...(table?.rows ?? [])].map((r) => [...r.cells].map((c) => c.innerText.trim()));
    }})()""")


def check_debug_reports(page, folder):
    """The tables of searches say what their JSON says; what was refused for a plan is there."""
    chain(folder)
    assay(folder, "debug", "range", "hot.onnxtxt", "--json", "range.json", "--report", "range.html")
    page.show(folder / "range.html")
    table = rows(page, "Ranges")
    overflow = next(i for i, title in enumerate(table[0]) if title.startswith("float16: overflow"))
    by_name = {r[0]: r for r in table[1:]}
    assert float(by_name["w2"][overflow].split()[0]) > 20, by_name["w2"]
    assert by_name["w1"][overflow].split()[0] == "0", by_name["w1"]
    assay(folder, "debug", "precision", "hot.onnxtxt", "--fp16", "--accuracy", "40dB", "--builder-optimization-level", "0", "--json", "p.json", "--report", "p.html")
    found = json.loads((folder / "p.json").read_text())
    page.show(folder / "p.html")
    points = rows(page, "Accuracy against time")
    assert [int(r[0]) for r in points[1:]] == [len(p["float32"]) for p in found["points"]], points
    answer = [r for r in points[1:] if r[-1] == "the answer"]
    assert len(answer) == 1 and int(answer[0][0]) == len(found["answer"]["float32"]), answer
    held = [r[0] for r in rows(page, "Layers")[1:] if r[-1] == "float32"]
    assert held == found["answer"]["float32"] == ["product2"], (held, found["answer"])
    assert "sensitivity" in page.js("[...document.getElementById('color').options].map((o) => o.value)")
    page.picture("report_precision")
    check = ("--check", ASSAY, "run", "polygraphy_debug.onnx", "--ref")
    (folder / "failing.onnxtxt").write_text((folder / "hot.onnxtxt").read_text().replace("= Tanh (v2)", "= Nothing (v2)"))
    assay(folder, "debug", "reduce", "failing.onnxtxt", "-o", "reduced.onnx", "--report", "reduce.html", *check)
    page.show(folder / "reduce.html")
    left = rows(page, "What is left")[1]
    shown = [page.js(f"[...app.sides[{side}].items.nodes.values()].filter((n) => n.kind === 'node').length") for side in (0, 1)]
    assert left == ["nodes", str(shown[1]), str(shown[0])] and shown[0] < shown[1] == 8, (left, shown)
    assert page.js("app.sides.length") == 2, "the whole model is next to what is left"
    assay(folder, "convert", "relus.onnxtxt", "-o", "relus.plan", "--builder-optimization-level", "0", "--fp16", "--report", "plan.html")
    page.show(folder / "plan.html")
    outcomes = rows(page, "Tactics that were considered")
    assert {"chosen", "refused"} <= {r[2] for r in outcomes[1:]}, outcomes[:5]
    refused = next(r for r in outcomes[1:] if r[2] == "refused")
    assert len(refused[4]) > 10, f"the reason is there: {refused}"
    page.picture("report_plan")
    planted = pathlib.Path(ASSAY).parent / "tests" / "planted.so"
    if not planted.exists():
        print("skipped in part: the report of debug tactics, since the module with a wrong one is not built")
        return
    assay(folder, "debug", "tactics", "relus.onnxtxt", "--extension", str(planted), "--builder-optimization-level", "0", "--json", "t.json", "--report", "t.html")
    found = json.loads((folder / "t.json").read_text())
    page.show(folder / "t.html")
    table = rows(page, "Tactics to blame")
    assert [r[0] for r in table[1:]] == [n for g in found["guilty"] for n in g["nodes"]] == ["wrong2"], (table, found)
    assert "blame" in page.js("[...document.getElementById('color').options].map((o) => o.value)")


def check_strangers(page, folder):
    """Results, verdicts and profiles of another model, and folders that cannot be written: said, not mixed up."""
    assay(folder, "template", "model", "mlp", "-o", "other.onnx")
    assay(folder, "run", "other.onnx", "--ref", "--save-outputs", "other.json")
    assay(folder, "view", "m.onnx", "other.json", "-o", "strange.html")
    page.show(folder / "strange.html")
    names = [r[0] for r in rows(page, "Results")[1:]]
    assert names and page.js("document.querySelectorAll('#report-panel table .link').length") == 0, "no name leads to a node of the other model"
    (folder / "file").write_text("")
    for words in (["view", "m.onnx", "-o", "file/page.html"], ["run", "m.onnx", "--ref", "--report", "file/page.html"]):
        text = assay(folder, *words, status=1)
        assert "file" in text and "Not a directory" in text, text


def check_sizes(page, folder):
    """A phone, and both of light and dark."""
    page.resize(390, 800, mobile=True)
    page.show(folder / "m_onnx.html")
    assert page.js("document.documentElement.scrollWidth") <= 390, page.js("document.documentElement.scrollWidth")
    assert page.js("document.getElementById('canvas').clientWidth") >= 380
    assert page.js("getComputedStyle(document.getElementById('search')).display") == "none"
    page.js("document.getElementById('find').click()")
    assert page.js("getComputedStyle(document.getElementById('search')).display") != "none"
    page.picture("phone")
    page.resize(1280, 800)
    page.show(folder / "m_onnx.html")
    backs = []
    for scheme in ("light", "dark"):
        page.call("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        page.settle()
        backs.append(page.js("getComputedStyle(document.body).backgroundColor"))
        assert page.js("app.view.ink.back") == page.js("getComputedStyle(document.documentElement).getPropertyValue('--back').trim()")
    page.picture("dark")
    assert backs[0] != backs[1], backs
    page.js("document.getElementById('theme').click()")
    assert page.js("getComputedStyle(document.body).backgroundColor") == backs[0], "the button has the last word"


CHECKS = [check_folding, check_search, check_costs, check_results, check_export, check_hostile, check_damaged, check_pairs, check_reports, check_debug_reports, check_strangers, check_sizes]


def main():
    if browser.program() is None:
        print("skipped: there is no Chromium, which shows the pages (ASSAY_CHROMIUM, or `chromium` in PATH)")
        return 77
    chosen = sys.argv[3:]
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = pathlib.Path(name)
        write_files(folder)
        for check in CHECKS:
            if chosen and check.__name__.removeprefix("check_") not in chosen:
                continue
            with Page() as page:
                check(page, folder)
            print(f"{check.__name__}: passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
