// The panel of details: of a graph, a group, a node; and the way down to what is selected.
"use strict";

class Panels {
  // app: {metrics, metric(), tensorsOf(name), matches(view, item)}
  constructor(app) { this.app = app; }

  show(view, item) {
    const panel = Dom.at("details");
    panel.replaceChildren();
    panel.scrollTop = 0;
    if (item === null) this.graph(panel, view);
    else if (item.node === null) this.group(panel, view, item);
    else this.node(panel, view, item);
    this.trail(view, item);
  }

  trail(view, item) {
    const path = item === null ? [view.root] : item.path(), trail = Dom.at("trail");
    trail.replaceChildren(...path.flatMap((i, k) => {
      const name = Dom.button(Text.cut(Text.oneLine(i.node === null ? i.title : i.node.name || i.node.op_type), 40), () => view.go(i));
      if (k === path.length - 1) name.setAttribute("aria-current", "true");
      return [...(k ? [" › "] : []), name];
    }));
  }

  graph(panel, view) {
    const { payload } = view.items, info = payload.model_info, root = view.root;
    panel.append(Dom.element("h2", root.title));
    if (root === view.items.roots[0]) panel.append(Dom.list([["model", payload.model_path], ["nodes", info.num_nodes], ["inputs", info.num_inputs], ["outputs", info.num_outputs]]));
    if (payload.problem) panel.append(Dom.element("p", payload.problem, "problem"));
    this.costs(panel, root);
    this.operators(panel, root);
  }
  operators(panel, item) {
    panel.append(Dom.element("h3", "Operators"), Dom.list(Scene.operators(item).slice(0, 60)));
  }
  group(panel, view, item) {
    panel.append(Dom.element("h2", item.title), Dom.list([["kind", { scope: "scope of names", block: "repeated block", stretch: "neighbours in the order of the model", body: "body" }[item.kind]], ["nodes", item.count]]));
    panel.append(Dom.button(item.isOpen ? "▾ close" : "▸ open", () => { view.toggle(item); this.show(view, item); }, "jump"));
    if (item.children.some((c) => c.children !== null)) panel.append(Dom.button("▸▸ open all", () => view.toggleAll(item, true), "jump"));
    this.costs(panel, item);
    this.operators(panel, item);
    const links = (title, leaves, sign) => {
      if (leaves.size === 0) return;
      panel.append(Dom.element("h3", title));
      for (const l of [...leaves].slice(0, 40)) panel.append(this.jump(view, l, sign));
      if (leaves.size > 40) panel.append(Dom.element("span", `and ${leaves.size - 40} more`, "note"));
    };
    const ins = new Set(), outs = new Set();
    item.eachLeaf((l) => {
      for (const p of l.sources) if (!p.isWithin(item)) ins.add(p);
      for (const t of l.targets) if (!t.isWithin(item)) outs.add(t);
    });
    links("From", ins, "↑");
    links("To", outs, "↓");
  }
  // What an item costs, and where that stands among all.
  costs(panel, item) {
    const root = item.path()[0], rows = [];
    for (const m of this.app.metrics(item)) {
      const value = m.of(item);
      if (value === undefined) continue;
      const whole = m.isNumber && m.combine === "sum" && item !== root ? m.of(root) : 0;
      rows.push([m.title, m.text(value) + (whole > 0 ? ` (${Number(((100 * value) / whole).toPrecision(3))} %)` : "")]);
    }
    if (rows.length > 0) panel.append(Dom.element("h3", "Cost and results"), Dom.list(rows));
  }

  node(panel, view, item) {
    const n = item.node;
    panel.append(Dom.element("h2", n.op_type));
    panel.append(Dom.list([["name", n.name || "(none)"], ["domain", n.domain], ["id", n.node_id], ["origin", n.origin], ["tactic", n.tactic], ["doc", n.docstring]].filter((p) => p[1])));
    if (n.problem) panel.append(Dom.element("p", n.problem, "problem"));
    this.costs(panel, item);
    const bodies = Object.entries(n.subgraphs);
    if (bodies.length > 0 || n.calls !== undefined) {
      panel.append(Dom.element("h3", "Inside"));
      panel.append(Dom.button(item.isOpen ? "▾ close" : "▸ open", () => { view.toggle(item); this.show(view, item); }, "jump"));
    }
    for (const [name, body] of bodies) panel.append(Dom.element("div", `${name}: ${body.all_node_ids.length} nodes`, "note"));
    if (n.calls !== undefined) panel.append(Dom.button(`▸ function ${view.items.payload.graphs[n.calls].title}`, () => view.show(view.items.roots[n.calls]), "jump"));
    this.matched(panel, view, item);
    if (n.attrs.length > 0) panel.append(Dom.element("h3", "Attributes"), Dom.list(n.attrs.map((a) => [a.key, a.val + (a.weight_preview ? `\n${Text.preview(a.weight_preview)}` : "")])));
    this.tensors(panel, view, item, "Inputs", n.inputs, true);
    this.tensors(panel, view, item, "Outputs", n.outputs, false);
  }
  // The same node in the other model, or the layers of the plan that it is in.
  matched(panel, view, item) {
    const found = this.app.matches(view, item);
    if (found === null) return;
    panel.append(Dom.element("h3", "In the other model"));
    if (found.note) panel.append(Dom.element("div", found.note, "note"));
    for (const l of found.leaves.slice(0, 40)) panel.append(Dom.button(`⇄ ${Text.cut(l.node.op_type, 30)} ${Text.cut(l.node.name, 80)}`, () => found.view.go(l), "jump"));
  }
  jump(view, leaf, sign) {
    const n = leaf.node;
    return Dom.button(`${sign} ${Text.cut(n.kind === "node" ? n.op_type : n.kind, 20)} ${Text.cut(n.name, 60)}`, () => view.go(leaf), "jump");
  }
  tensors(panel, view, item, title, values, isInput) {
    if (values.length === 0) return;
    panel.append(Dom.element("h3", title));
    for (const v of values) panel.append(this.tensor(view, item, v, isInput));
  }
  tensor(view, item, v, isInput) {
    const box = Dom.element("div", undefined, "tensor");
    box.append(Dom.element("code", v.name || "(left out)"));
    if (Text.typeText(v)) box.append(Dom.element("div", Text.typeText(v), "note"));
    if (v.docstring) box.append(Dom.element("div", v.docstring, "note"));
    if (v.weight_preview) box.append(Dom.element("div", Text.preview(v.weight_preview), "values"));
    const data = v.name ? this.app.tensorsOf(Text.plainName(v)) : [];
    for (const d of data) box.append(Pictures.tensor(d));
    let ends = [];
    if (v.name && !Text.isConstant(v)) {
      if (isInput) ends = [item.frame.find(v.name)].filter((p) => p !== undefined && p !== item);
      else ends = item.targets.filter((t) => t.node.inputs.some((i) => i.name === v.name) || t.frame !== item.frame);
    }
    for (const l of ends.slice(0, 12)) box.append(this.jump(view, l, isInput ? "↑" : "↓"));
    if (ends.length > 12) box.append(Dom.element("span", `and ${ends.length - 12} more`, "note"));
    return box;
  }
}
