// What ran when: a lane for each thread, steps as bars; wheel and drag move and zoom in time.
"use strict";

class Timeline {
  // data: {threads: [names], events: [[thread, start, duration, name]], unit: us}; goTo(name).
  constructor(panel, data, goTo) {
    this.lanes = data.threads.map((name) => ({ name: Text.oneLine(name), depth: 1, bars: [] }));
    let end = 0;
    for (const [thread, start, duration, name] of data.events) {
      if (!(thread in this.lanes) || !Number.isFinite(start) || !Number.isFinite(duration)) continue;
      this.lanes[thread].bars.push({ start, end: start + duration, name, row: 0 });
      end = Math.max(end, start + duration);
    }
    this.begin = Math.min(end, ...data.events.slice(0, 1).map((e) => e[1]), ...this.lanes.flatMap((l) => (l.bars.length ? [l.bars.reduce((m, b) => Math.min(m, b.start), Infinity)] : [])));
    this.end = end;
    for (const lane of this.lanes) Timeline.stack(lane);
    const all = this.lanes.flatMap((l) => l.bars).length;
    panel.append(Dom.element("h1", data.title || "Timeline"));
    panel.append(Dom.element("p", `${all} event${all === 1 ? "" : "s"} in ${Timeline.time(this.end - this.begin)}`, "note"));
    this.canvas = Dom.element("canvas", undefined, "timeline");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("aria-label", "Timeline. The wheel with Ctrl zooms, dragging moves, 0 shows everything.");
    this.text = Dom.element("p", "", "note");
    this.text.id = "event";
    panel.append(this.canvas, this.text);
    this.goTo = goTo;
    this.table(panel);
    this.whole();
    this.listen();
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }
  static time(us) { return us >= 1e6 ? `${Number((us / 1e6).toPrecision(4))} s` : us >= 1e3 ? `${Number((us / 1e3).toPrecision(4))} ms` : `${Number(us.toPrecision(4))} us`; }

  // Bars that lie in others go one row further down.
  static stack(lane) {
    lane.bars.sort((a, b) => a.start - b.start || b.end - a.end);
    const open = [];
    for (const b of lane.bars) {
      while (open.length > 0 && open[open.length - 1].end <= b.start + 1e-9) open.pop();
      b.row = Math.min(open.length, 15);
      lane.depth = Math.max(lane.depth, b.row + 1);
      open.push(b);
    }
    lane.rows = Array.from({ length: lane.depth }, (_, r) => lane.bars.filter((b) => b.row === r));
  }
  // Sums by name, the largest first.
  sums() {
    const sums = new Map();
    for (const lane of this.lanes) for (const b of lane.bars) {
      const s = sums.get(b.name) ?? { time: 0, count: 0 };
      s.time += b.end - b.start;
      s.count++;
      sums.set(b.name, s);
    }
    return [...sums].sort((a, b) => b[1].time - a[1].time);
  }
  table(panel) {
    const rows = this.sums().map(([name, s]) => [name, s.count, s.time / 1e3]);
    const section = Dom.element("section");
    section.append(Dom.element("h2", "Sums by name"));
    Report.table(section, { columns: [{ title: "name", kind: "node" }, { title: "events", kind: "number" }, { title: "time", kind: "number", unit: "ms" }], rows }, (name) => this.goTo(name, true), (name) => this.goTo(name, false));
    panel.append(section);
  }

  whole() {
    this.from = this.begin;
    this.to = Math.max(this.end, this.begin + 1e-3);
    this.draw();
  }
  x(t) { return 120 + ((t - this.from) / (this.to - this.from)) * (this.canvas.clientWidth - 130); }
  t(x) { return this.from + ((x - 120) / (this.canvas.clientWidth - 130)) * (this.to - this.from); }

  draw() {
    const ROW = 18, canvas = this.canvas, density = window.devicePixelRatio || 1;
    let height = 22;
    for (const lane of this.lanes) { lane.top = height; height += lane.depth * ROW + 8; }
    canvas.style.height = `${height}px`;
    const width = canvas.clientWidth;
    if (width === 0) return;
    canvas.width = Math.round(width * density);
    canvas.height = Math.round(height * density);
    const pen = canvas.getContext("2d"), style = getComputedStyle(document.documentElement), ink = (n) => style.getPropertyValue(`--${n}`).trim();
    pen.setTransform(density, 0, 0, density, 0, 0);
    pen.font = "11px system-ui, sans-serif";
    this.drawScale(pen, ink, width, height);
    for (const lane of this.lanes) {
      pen.fillStyle = ink("ink");
      pen.fillText(Text.cut(lane.name, 20), 4, lane.top + 13, 112);
      lane.rows.forEach((bars, r) => this.drawRow(pen, bars, lane.top + r * ROW, ROW - 2, width));
    }
  }
  drawScale(pen, ink, width, height) {
    const span = this.to - this.from, rough = span / 8, base = 10 ** Math.floor(Math.log10(rough)), step = [1, 2, 5, 10].map((f) => f * base).find((s) => s >= rough);
    pen.strokeStyle = ink("line");
    pen.fillStyle = ink("faint");
    pen.lineWidth = 1;
    pen.beginPath();
    for (let t = Math.ceil((this.from - this.begin) / step) * step; t <= this.to - this.begin; t += step) {
      const x = this.x(t + this.begin);
      pen.moveTo(x, 16);
      pen.lineTo(x, height);
      pen.fillText(Timeline.time(t), x + 2, 12);
    }
    pen.stroke();
  }
  drawRow(pen, bars, y, height, width) {
    let low = 0, high = bars.length;
    while (low < high) { const m = (low + high) >> 1; if (bars[m].end >= this.from) high = m; else low = m + 1; }
    let drawnTo = -1;
    for (let i = low; i < bars.length && bars[i].start <= this.to; i++) {
      const b = bars[i], x0 = Math.max(120, this.x(b.start)), x1 = Math.min(width - 8, this.x(b.end));
      // Bars narrower than a pixel are drawn once for each pixel.
      if (x1 - x0 < 1 && x0 < drawnTo) continue;
      drawnTo = Math.max(x1, x0 + 1);
      pen.fillStyle = b === this.chosen ? "#d9480f" : Timeline.color(b.name);
      pen.fillRect(x0, y, Math.max(1, x1 - x0), height);
      if (x1 - x0 > 30) {
        pen.fillStyle = "#fff";
        pen.fillText(Text.cut(Text.oneLine(b.name), Math.floor((x1 - x0) / 5.5)), x0 + 3, y + 12, x1 - x0 - 6);
      }
    }
  }
  static color(name) {
    let hash = 0;
    for (let i = 0; i < Math.min(200, name.length); i++) hash = (hash * 31 + name.charCodeAt(i)) | 0;
    return Metric.PALETTE[(hash >>> 0) % Metric.PALETTE.length];
  }

  pick(x, y) {
    const t = this.t(x), reach = (2 / Math.max(1, this.canvas.clientWidth - 130)) * (this.to - this.from);
    for (const lane of this.lanes) {
      const row = lane.rows[Math.floor((y - lane.top) / 18)];
      if (y < lane.top || row === undefined) continue;
      return row.find((b) => b.start - reach <= t && b.end + reach >= t) ?? null;
    }
    return null;
  }
  zoom(factor, x) {
    const t = this.t(x);
    this.from = t - (t - this.from) / factor;
    this.to = t + (this.to - t) / factor;
    this.draw();
  }
  listen() {
    const c = this.canvas;
    let drag = null;
    c.addEventListener("wheel", (e) => {
      if (!e.ctrlKey && !e.metaKey && !e.shiftKey) return;
      e.preventDefault();
      if (e.shiftKey) this.move((e.deltaY + e.deltaX) / c.clientWidth);
      else this.zoom(Math.exp(-e.deltaY * 0.0025), e.offsetX);
    }, { passive: false });
    c.addEventListener("pointerdown", (e) => { drag = { x: e.offsetX, moved: false }; c.setPointerCapture(e.pointerId); });
    c.addEventListener("pointermove", (e) => {
      if (drag === null || (Math.abs(e.offsetX - drag.x) < 4 && !drag.moved)) return;
      this.move((drag.x - e.offsetX) / c.clientWidth);
      drag = { x: e.offsetX, moved: true };
    });
    c.addEventListener("pointerup", (e) => {
      if (drag !== null && !drag.moved) this.choose(this.pick(e.offsetX, e.offsetY));
      drag = null;
    });
    c.addEventListener("keydown", (e) => {
      const act = { ArrowLeft: () => this.move(-0.1), ArrowRight: () => this.move(0.1), "+": () => this.zoom(1.3, c.clientWidth / 2), "-": () => this.zoom(1 / 1.3, c.clientWidth / 2), 0: () => this.whole() }[e.key];
      if (act === undefined) return;
      act();
      e.preventDefault();
      e.stopPropagation();
    });
  }
  move(part) {
    const by = part * (this.to - this.from);
    this.from += by;
    this.to += by;
    this.draw();
  }
  choose(bar) {
    this.chosen = bar;
    this.text.replaceChildren();
    if (bar !== null) {
      this.text.append(`${Text.cut(bar.name, 2000)}: ${Timeline.time(bar.end - bar.start)}, from ${Timeline.time(bar.start - this.begin)} on `);
      if (this.goTo(bar.name, true)) this.text.append(Dom.button("show in the graph", () => this.goTo(bar.name, false), "jump"));
    }
    this.draw();
  }
}
