// Puts the page together: its data, the views, and what is around them.
"use strict";

class App {
  constructor() {
    const asked = location.hash;
    this.report = Dom.data("report");
    this.sides = [Dom.data("model"), Dom.data("other")].filter((p) => p !== null).map((payload) => ({ items: new Items(payload), metrics: [], view: null }));
    this.panels = new Panels({ metrics: (item) => this.sideOfItem(item).metrics, tensorsOf: (name) => this.tensorsOf(name), matches: (view, item) => this.matches(view, item) });
    this.metric = null;
    this.matching = this.sides.length === 2 && this.report?.matching ? new Matching(this.sides[0].items, this.sides[1].items, this.report.matching) : null;
    this.sides.forEach((side, i) => {
      const extra = this.matching === null ? [] : [this.matching.metric(i, side.items)];
      side.metrics = Metrics.all(side.items, { metrics: [...(this.report?.metrics ?? []), ...extra] });
    });
    this.makeViews();
    this.header();
    this.tabs();
    this.takeColors();
    this.listen();
    if (this.matching !== null) this.colorBy("match");
    if (this.sides.length > 0) {
      for (const s of this.sides) s.view.fit(false);
      this.panels.show(this.view, null);
      this.goToHash(asked);
    }
    if (asked === "" && this.report !== null && (this.sides.length === 0 || this.report.opens === "report")) this.show("report");
    document.documentElement.dataset.ready = "yes";
  }

  get view() { return (this.active ?? this.sides[0]).view; }
  sideOf(view) { return this.sides.find((s) => s.view === view); }
  sideOfItem(item) { const root = item.path()[0]; return this.sides.find((s) => s.items.roots.includes(root)) ?? this.sides[0]; }

  makeViews() {
    this.sides.forEach((side, i) => {
      const suffix = i === 0 ? "" : "-2";
      Dom.at(`pane${suffix}`).hidden = false;
      side.view = new View(Dom.at(`canvas${suffix}`), Dom.at(`minimap${suffix}`), side.items, {
        colorOf: (item) => this.colorOf(side, item),
        onSelect: (view, item) => this.selected(side, item),
        onChange: (view) => { if (view === this.view) { this.panels.trail(view, view.selected); Dom.at("graphs").value = String(side.items.roots.indexOf(view.root)); } },
      });
    });
    if (this.sides.length > 0) this.search = new Search(this.sides[0].items, this.sides[0].view);
  }

  // What an item is drawn in: by the metric that is chosen, else by what operators do.
  colorOf(side, item) {
    const m = this.metric === null ? undefined : side.metrics.find((x) => x.key === this.metric);
    if (m !== undefined) return m.color(item);
    return Kinds.color(item.node === null ? Kinds.GROUP : Kinds.of(item.node));
  }
  colorBy(key) {
    this.metric = key === "kind" ? null : key;
    Dom.at("color").value = key;
    this.legend();
    for (const s of this.sides) {
      s.view.overview = null;
      s.view.redraw();
    }
  }
  legend() {
    const legend = Dom.at("legend"), side = this.active ?? this.sides[0], m = side.metrics.find((x) => x.key === this.metric);
    let rows;
    if (m !== undefined) rows = m.legend();
    else {
      const used = new Set();
      for (const n of side.items.nodes.values()) used.add(Kinds.of(n));
      rows = Kinds.LIST.map(([name, color], i) => (used.has(i) ? [color, name] : null)).filter(Boolean);
    }
    legend.replaceChildren(...rows.map(([color, text]) => Dom.swatch(color, Text.cut(Text.oneLine(text), 40))));
  }

  selected(side, item) {
    this.active = side;
    this.panels.show(side.view, item);
    Dom.at("graphs").value = String(side.items.roots.indexOf(side.view.root));
    const id = item !== null && item.node !== null ? item.node.node_id : null;
    if (side === this.sides[0]) history.replaceState(null, "", id === null ? "#" : `#${encodeURIComponent(id)}`);
    const other = this.sides.find((s) => s !== side);
    if (other !== undefined && this.matching !== null)
      other.view.mark(id === null ? null : this.matching.of(this.sides.indexOf(side), id).map((o) => other.items.leaf(o)).filter((l) => l !== undefined));
  }
  matches(view, item) {
    if (this.matching === null) return null;
    const side = this.sides.findIndex((s) => s.view === view), other = this.sides[1 - side], id = item.node.node_id;
    return { view: other.view, note: side === 0 ? this.matching.notes.get(id) : undefined, leaves: this.matching.of(side, id).map((o) => other.items.leaf(o)).filter((l) => l !== undefined) };
  }
  tensorsOf(name) {
    const all = this.report?.tensors;
    return all && Object.hasOwn(all, name) ? all[name] : [];
  }
  // For reports and timelines: shows the node of a name; with `isQuestion` only says whether there is one.
  goToName(name, isQuestion) {
    for (const side of this.sides) {
      const id = [name, ...String(name).split(" + ")].map((n) => side.items.idOf(n)).find((i) => i !== undefined);
      if (id === undefined) continue;
      if (!isQuestion) {
        this.show("graph");
        side.view.goTo(id);
      }
      return true;
    }
    return false;
  }

  header() {
    const first = this.sides[0], title = first === undefined ? this.report?.title ?? "Report" : first.items.payload.model_info.title;
    document.title = Dom.at("title").textContent = Text.cut(Text.oneLine(title), 300);
    Dom.at("path").textContent = this.sides.map((s) => Text.cut(Text.oneLine(s.items.payload.model_path), 300)).join("  ⇄  ");
    if (first === undefined) return;
    first.items.payload.graphs.forEach((g, i) => Dom.at("graphs").append(Dom.option(Text.cut(Text.oneLine(g.title), 60), String(i))));
    Dom.at("graphs").hidden = first.items.payload.graphs.length < 2 || this.sides.length > 1;
    Dom.at("color").append(Dom.option("colour: operators", "kind"));
    const known = new Map();
    for (const s of this.sides) for (const m of s.metrics) known.set(m.key, m.title);
    for (const [key, name] of known) Dom.at("color").append(Dom.option(`colour: ${Text.cut(Text.oneLine(name), 60)}`, key));
    this.legend();
  }

  tabs() {
    const tabs = [["graph", "Graph", this.sides.length > 0], ["report", "Report", this.report !== null && (this.report.title !== undefined || (this.report.sections ?? []).length > 0)], ["timeline", "Timeline", (this.report?.timelines ?? []).length > 0]].filter((t) => t[2]);
    this.tabNames = tabs.map((t) => t[0]);
    Dom.at("tabs").hidden = tabs.length < 2;
    for (const [key, name] of tabs) {
      const b = Dom.button(name, () => this.show(key));
      b.id = `tab-${key}`;
      Dom.at("tabs").append(b);
    }
    if (this.tabNames.includes("report")) new Report(Dom.at("report-panel"), this.report, (n) => this.goToName(n, true), (n) => this.goToName(n, false));
    this.show(this.tabNames[0]);
  }
  show(key) {
    for (const name of ["graph", "report", "timeline"]) {
      Dom.at(`${name}-panel`).hidden = name !== key;
      const b = Dom.at(`tab-${name}`);
      if (b !== null) b.setAttribute("aria-current", String(name === key));
    }
    for (const control of document.querySelectorAll(".of-graph")) control.classList.toggle("away", key !== "graph");
    // A timeline needs to know how wide it is.
    if (key === "timeline" && this.timelines === undefined) this.timelines = this.report.timelines.map((t) => new Timeline(Dom.at("timeline-panel"), t, (n, q) => this.goToName(n, q)));
  }

  takeColors() {
    const style = getComputedStyle(document.documentElement);
    for (const s of this.sides) {
      for (const name of ["ink", "faint", "edge", "mark", "panel", "back", "inside", "found"]) s.view.ink[name] = style.getPropertyValue(`--${name}`).trim();
      s.view.overview = null;
      s.view.redraw();
    }
  }
  theme() {
    const root = document.documentElement, isDark = root.dataset.theme === undefined ? matchMedia("(prefers-color-scheme: dark)").matches : root.dataset.theme === "dark";
    root.dataset.theme = isDark ? "light" : "dark";
    this.takeColors();
    if (this.timelines) for (const t of this.timelines) t.draw();
  }

  listen() {
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.takeColors());
    Dom.at("theme").addEventListener("click", () => this.theme());
    if (this.sides.length === 0) return;
    const click = (id, act) => Dom.at(id).addEventListener("click", act);
    click("in", () => this.view.zoom(1.3));
    click("out", () => this.view.zoom(1 / 1.3));
    click("fit", () => this.view.fit(true));
    click("open-all", () => this.view.toggleAll(this.view.root, true));
    click("close-all", () => this.view.toggleAll(this.view.root, false));
    click("svg", () => Export.saveSvg(this.view));
    click("png", () => Export.savePng(this.view));
    click("find", () => document.body.classList.toggle("with-search"));
    click("about", () => document.body.classList.toggle("with-details"));
    Dom.at("color").addEventListener("change", (e) => this.colorBy(e.target.value));
    Dom.at("graphs").addEventListener("change", (e) => this.view.show(this.view.items.roots[Number(e.target.value)]));
    window.addEventListener("hashchange", () => this.goToHash(location.hash));
    document.addEventListener("keydown", (e) => this.key(e));
  }
  key(e) {
    const types = /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName), query = Dom.at("query");
    if ((e.key === "f" && (e.ctrlKey || e.metaKey)) || (e.key === "/" && !types)) {
      this.show("graph");
      document.body.classList.add("with-search");
      query.focus();
      query.select();
      e.preventDefault();
    } else if (e.key === "Escape") {
      if (types) this.view.canvas.focus();
      this.view.select(null);
    } else if (types || e.ctrlKey || e.metaKey || e.altKey) return;
    else if (e.key === "+" || e.key === "=") this.view.zoom(1.3);
    else if (e.key === "-") this.view.zoom(1 / 1.3);
    else if (e.key === "0") this.view.fit(true);
    else if (e.key === "n" || e.key === "N") this.search.step(e.key === "n" ? 1 : -1);
  }
  goToHash(hash) {
    let id = hash.slice(1);
    try { id = decodeURIComponent(id); } catch { return; }
    if (id) this.sides[0].view.goTo(id);
  }
}

// A page whose data are damaged says so instead of staying empty.
let app = null;
try {
  app = new App();
} catch (e) {
  const place = document.getElementById("problem");
  place.textContent = `This page cannot be shown: ${e.message}`;
  place.hidden = false;
  throw e;
}
