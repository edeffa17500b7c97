#!/usr/bin/env python3
"""The viewer's page beside Netron: the same models of up to 200,000 nodes in Chromium, until the graph is drawn and while it scrolls.

    viewer_netron.py BINARY PYTHON [NODES...]      prints the table of docs/measurements/viewer-netron.csv; PYTHON has PyPI's package netron

Processor time is that of all of Chromium's processes, which load on the machine changes less than the time that passes.
"""

import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

PYTHON = sys.argv.pop(2)
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import viewer  # noqa: E402
from viewer import ASSAY, SIZES, browser, viewer_test  # noqa: E402

LIMIT = int(os.environ.get("ASSAY_NETRON_SECONDS", "300"))
SERVER = "import netron, sys, time; netron.start('m.onnx', ('127.0.0.1', int(sys.argv[1])), browse=False); time.sleep(10000)"
TICKS = os.sysconf("SC_CLK_TCK")
# As many frames as there are in a second and a half of scrolling.
SCROLL = """new Promise((done) => {
  const begin = performance.now();
  let frames = 0;
  const step = () => {
    MOVE;
    frames += 1;
    if (performance.now() - begin < 1500) requestAnimationFrame(step);
    else done(frames / (performance.now() - begin) * 1000);
  };
  requestAnimationFrame(step);
})"""


def processor_seconds(page):
    """Of the browser and all processes that it has started."""
    parents, times = {}, {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(entry.name)], times[int(entry.name)] = int(fields[1]), (int(fields[11]) + int(fields[12])) / TICKS
    ours, total = {page.process.pid}, 0.0
    for pid in sorted(parents):
        if parents[pid] in ours:
            ours.add(pid)
    for pid in ours:
        total += times.get(pid, 0.0)
    return total


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def row(page, is_drawn, move, begin):
    """What both are asked; None where the graph is not there after the limit."""
    start = time.monotonic()
    while not page.js(is_drawn):
        if time.monotonic() - start > LIMIT:
            return None
        time.sleep(0.02)
    page.settle()
    drawn, passed = processor_seconds(page) - begin, page.js("performance.now() / 1000")
    elements = page.js("document.querySelectorAll('*').length")
    page.call("HeapProfiler.collectGarbage")
    heap = page.call("Runtime.getHeapUsage")["usedSize"]
    before = processor_seconds(page)
    frames = page.js(SCROLL.replace("MOVE", move))
    return [f"{passed:.2f} s", f"{drawn:.2f} s", f"{elements:,}", f"{heap / 1e6:.0f} MB", f"{frames:.0f}/s", f"{processor_seconds(page) - before:.2f} s"]


def ours(folder):
    subprocess.run([ASSAY, "view", "m.onnx", "-o", "m.html"], cwd=folder, check=True, capture_output=True)
    with browser.Browser() as page:
        begin = processor_seconds(page)
        page.open((folder / "m.html").as_uri(), seconds=LIMIT)
        result = row(page, "document.documentElement.dataset.ready === 'yes'", "app.view.camera.y += 40; app.view.draw()", begin)
    return f"{(folder / 'm.html').stat().st_size / 1e6:.1f} MB", result


def netrons(folder):
    port = free_port()
    server = subprocess.Popen([PYTHON, "-c", SERVER, str(port)], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with browser.Browser() as page:
            url = f"http://127.0.0.1:{port}/"
            for _ in range(200):
                with socket.socket() as s:
                    if s.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.05)
            # It asks for consent to cookies once, before it shows anything.
            page.open(f"{url}favicon.ico")
            page.js("document.cookie = 'consent=1; path=/'")
            begin = processor_seconds(page)
            page.call("Page.navigate", {"url": url})
            result = row(page, "document.body?.className.includes('default') && document.querySelectorAll('#canvas .node').length > 0",
                         "document.getElementById('target').scrollTop += 40", begin)
    finally:
        server.kill()
        server.wait()
    return f"{(folder / 'm.onnx').stat().st_size / 1e6:.1f} MB", result


def main():
    columns = ["nodes", "names", "program", "file", "drawn after", "processor time until then", "elements", "heap", "scrolling", "processor time of 1.5 s of it"]
    print("| " + " | ".join(columns) + " |\n|" + "---|" * len(columns), flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for count in SIZES:
            for scoped in (True, False):
                nodes, x = viewer.layer_nodes(count, scoped)
                (folder / "m.onnx").write_bytes(viewer_test.model(b"tower", nodes, [b"x"], [x]))
                for program, measure in (("assay", ours), ("Netron", netrons)):
                    size, result = measure(folder)
                    cells = result or [f"not after {LIMIT} s"] + [""] * 5
                    print("| " + " | ".join([f"{len(nodes):,}", "scopes" if scoped else "no scopes", program, size, *cells]) + " |", flush=True)


if __name__ == "__main__":
    main()
