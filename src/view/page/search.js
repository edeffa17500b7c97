// Nodes by words, names and selectors, and the list of what was found.
"use strict";

class Search {
  // Ids of the nodes that fit, in the order of the model. Throws SyntaxError for a selector that is none.
  static find(items, text, field) {
    const ids = [];
    if (!text) return ids;
    if (field === "selector" || (field === "any" && Selector.isSelector(text))) {
      const test = Selector.compile(text, items);
      for (const [id, n] of items.nodes) if (test(id, n)) ids.push(id);
      // Words may hold such characters, too.
      if (ids.length > 0 || field === "selector") return ids;
    }
    const words = text.toLowerCase(), has = (name) => name.toLowerCase().includes(words);
    for (const [id, n] of items.nodes)
      if (((field === "any" || field === "op") && has(n.op_type)) || ((field === "any" || field === "name") && has(n.name)) ||
          ((field === "any" || field === "tensor") && (n.inputs.some((v) => has(v.name)) || n.outputs.some((v) => has(v.name))))) ids.push(id);
    return ids;
  }

  constructor(items, view) {
    Object.assign(this, { items, view, ids: [], at: -1 });
    const query = Dom.at("query");
    query.addEventListener("input", () => this.run());
    Dom.at("field").addEventListener("change", () => this.run());
    query.addEventListener("keydown", (e) => {
      if (e.key === "ArrowDown" || (e.key === "Enter" && !e.shiftKey)) this.step(1);
      else if (e.key === "ArrowUp" || e.key === "Enter") this.step(-1);
      else return;
      e.preventDefault();
    });
  }

  run() {
    const MOST = 200, hits = Dom.at("hits"), text = Dom.at("query").value.trim();
    hits.replaceChildren();
    this.at = -1;
    let problem = "";
    try {
      this.ids = Search.find(this.items, text, Dom.at("field").value);
    } catch (e) {
      this.ids = [];
      problem = e.message;
    }
    this.ids.slice(0, MOST).forEach((id, k) => {
      const n = this.items.nodes.get(id), row = Dom.element("li");
      row.append(Dom.button(`${n.kind === "node" ? n.op_type : n.kind}  ${Text.cut(n.name || (n.outputs[0]?.name ?? ""), 400)}`, () => this.go(k)));
      hits.append(row);
    });
    const count = this.ids.length;
    Dom.at("found").textContent = !text ? "" : problem || (count > MOST ? `${count} nodes, the first ${MOST}:` : `${count} node${count === 1 ? "" : "s"}`);
    const leaves = this.ids.slice(0, 20000).map((id) => this.items.leafOf.get(id)).filter((l) => l !== undefined);
    this.view.mark(text ? leaves : null);
  }
  go(k) {
    const rows = Dom.at("hits").children;
    if (this.at >= 0 && this.at < rows.length) rows[this.at].removeAttribute("aria-current");
    this.at = k;
    if (k < rows.length) {
      rows[k].setAttribute("aria-current", "true");
      rows[k].scrollIntoView({ block: "nearest" });
    }
    this.view.goTo(this.ids[k]);
  }
  step(by) {
    if (this.ids.length > 0) this.go((this.at + by + (this.at < 0 && by < 0 ? 1 : 0) + this.ids.length) % this.ids.length);
  }
}
