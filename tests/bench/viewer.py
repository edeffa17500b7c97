#!/usr/bin/env python3
"""Pages of models of up to 200,000 nodes in Chromium: size, time until the page can be used, first drawing, frames while moving and zooming.

    viewer.py BINARY [NODES...]        prints the table of docs/measurements/viewer.csv
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "viewer"))
import browser  # noqa: E402
import viewer_test  # noqa: E402

ASSAY = os.path.abspath(sys.argv[1])
SIZES = [int(n) for n in sys.argv[2:]] or [1000, 5000, 20000, 50000, 200000]

# Frames of a second in which the view moves (or zooms) in each: how many there were, and the longest time that one took to draw.
FRAMES = """new Promise((done) => {
  const v = app.view, drawn = [], begin = performance.now();
  const step = () => {
    const t = performance.now();
    MOVE;
    v.draw();
    drawn.push(performance.now() - t);
    if (performance.now() - begin < 1500) requestAnimationFrame(step);
    else done([drawn.length / (performance.now() - begin) * 1000, Math.max(...drawn), drawn.sort((a, b) => a - b)[drawn.length >> 1]]);
  };
  requestAnimationFrame(step);
})"""
MOVES = {"scrolling": "v.camera.y += 40", "zooming": "v.camera.scale = Math.min(4, v.camera.scale * (drawn.length % 60 < 30 ? 1.05 : 1 / 1.05))"}


def layer_nodes(count, scoped):
    """Transformer layers of fourteen nodes, with or without scopes in their names."""
    nodes, x = [], b"x"
    while len(nodes) < count:
        k = len(nodes) // 14

        def add(op, inputs, scope):
            name = b"/model/layers.%d/%s/%s" % (k, scope, op) if scoped else b"%s_%d" % (op, len(nodes))
            nodes.append(viewer_test.node(inputs, [b"t%d" % len(nodes)], op, name))
            return b"t%d" % (len(nodes) - 1)
        h = add(b"LayerNormalization", [x], b"ln1")
        q, key, v = (add(b"MatMul", [h], b"attn/" + s) for s in (b"q", b"k", b"v"))
        a = add(b"MatMul", [add(b"Softmax", [add(b"Einsum", [q, key], b"attn/qk")], b"attn/soft"), v], b"attn/av")
        x = add(b"Add", [x, add(b"MatMul", [a], b"attn/o")], b"sum1")
        h = add(b"Gelu", [add(b"MatMul", [add(b"LayerNormalization", [x], b"ln2")], b"mlp/up")], b"mlp/act")
        x = add(b"Add", [x, add(b"MatMul", [h], b"mlp/down")], b"sum2")
    return nodes, x


def measure(folder, count, scoped):
    nodes, x = layer_nodes(count, scoped)
    (folder / "m.onnx").write_bytes(viewer_test.model(b"tower", nodes, [b"x"], [x]))
    begin = time.monotonic()
    subprocess.run([ASSAY, "view", "m.onnx", "-o", "m.html"], cwd=folder, check=True, capture_output=True)
    made = time.monotonic() - begin
    with browser.Browser() as page:
        page.open((folder / "m.html").as_uri(), seconds=300)
        ready = page.js("performance.getEntriesByType('navigation')[0].loadEventEnd / 1000")
        paint = page.js("(performance.getEntriesByName('first-contentful-paint')[0] || { startTime: NaN }).startTime / 1000")
        rates = {}
        for what, move in MOVES.items():
            rates[what] = page.js(FRAMES.replace("MOVE", move))
        begin = time.monotonic()
        page.js("app.view.toggleAll(app.view.root, true); app.view.draw()")
        opened = time.monotonic() - begin
        page.js("app.view.fit(true)")
        everything = page.js(FRAMES.replace("MOVE", MOVES["zooming"]))
        begin = time.monotonic()
        page.type("query", "Softmax")
        found = time.monotonic() - begin
    return [f"{len(nodes):,}", "scopes" if scoped else "no scopes", f"{made:.2f} s", f"{(folder / 'm.html').stat().st_size / 1e6:.1f} MB", f"{paint:.2f} s", f"{ready:.2f} s",
            f"{rates['scrolling'][0]:.0f}/s", f"{rates['zooming'][0]:.0f}/s", f"{opened:.2f} s", f"{everything[0]:.0f}/s", f"{everything[2]:.0f} ms", f"{found:.2f} s"]


def main():
    columns = ["nodes", "names", "page written", "size", "first drawing", "ready", "scrolling", "zooming", "open everything", "zooming then", "a frame then", "search"]
    print("| " + " | ".join(columns) + " |\n|" + "---|" * len(columns), flush=True)
    with tempfile.TemporaryDirectory() as name:
        for count in SIZES:
            for scoped in (True, False):
                print("| " + " | ".join(measure(pathlib.Path(name), count, scoped)) + " |", flush=True)


if __name__ == "__main__":
    main()
