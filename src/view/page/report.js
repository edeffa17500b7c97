// The report of a command: what came of it, and tables that rank.
"use strict";

class Report {
  // data: {title, status, summary: [[name, value]], sections: [{kind: "table" | "text", ...}]}; goTo(name): shows a node, false
  // where there is none of that name.
  constructor(panel, data, hasNode, goTo) {
    panel.append(Dom.element("h1", Text.oneLine(data.title || "Report")));
    if (data.status) panel.append(Dom.element("p", data.status, data.is_good === false ? "status bad" : "status good"));
    if (data.summary && data.summary.length > 0) panel.append(Dom.list(data.summary));
    for (const s of data.sections ?? []) {
      if (s.kind === "timeline") continue;
      const section = Dom.element("section");
      section.append(Dom.element("h2", s.title));
      if (s.note) section.append(Dom.element("p", s.note, "note"));
      if (s.kind === "text") section.append(Dom.element("pre", s.text));
      if (s.kind === "table") Report.table(section, s, hasNode, goTo);
      panel.append(section);
    }
  }

  // {columns: [{title, unit, kind: "text" | "number" | "node"}], rows, shown}
  static table(section, s, hasNode, goTo) {
    const table = Dom.element("table"), head = Dom.element("tr"), body = Dom.element("tbody"), most = s.shown ?? 20;
    let isWhole = s.rows.length <= most, order = s.rows.map((_, i) => i), sorted = { column: -1, down: true };
    const fill = () => {
      body.replaceChildren(...order.slice(0, isWhole ? order.length : most).map((i) => {
        const tr = Dom.element("tr");
        s.columns.forEach((c, k) => tr.append(Report.cell(c, s.rows[i][k], hasNode, goTo)));
        return tr;
      }));
    };
    s.columns.forEach((c, k) => {
      const th = Dom.element("th", undefined, c.kind === "number" ? "number" : undefined);
      th.append(Dom.button(c.title, () => {
        sorted = { column: k, down: sorted.column === k ? !sorted.down : c.kind === "number" };
        const key = (i) => s.rows[i][k], sign = sorted.down ? -1 : 1;
        order.sort((a, b) => sign * Report.compare(key(a), key(b)));
        for (const other of head.children) other.removeAttribute("aria-sort");
        th.setAttribute("aria-sort", sorted.down ? "descending" : "ascending");
        fill();
      }));
      head.append(th);
    });
    fill();
    const thead = Dom.element("thead");
    thead.append(head);
    table.append(thead, body);
    const scroll = Dom.element("div", undefined, "scroll");
    scroll.append(table);
    section.append(scroll);
    if (!isWhole) {
      const more = Dom.button(`all ${s.rows.length}`, () => {
        isWhole = true;
        more.remove();
        fill();
      }, "more");
      section.append(more);
    }
  }
  static cell(column, value, hasNode, goTo) {
    const td = Dom.element("td", undefined, column.kind === "number" ? "number" : undefined);
    if (value === null || value === undefined) return td;
    if (column.kind === "number") td.textContent = typeof value === "number" ? Text.short(value, column.unit) : value;
    else if (column.kind === "node" && hasNode(value)) td.append(Dom.button(value, () => goTo(value), "link"));
    else td.textContent = value;
    return td;
  }
  // Numbers before words (NaN and the infinities are words in JSON), and nothing last.
  static compare(a, b) {
    const value = (v) => (v === "NaN" ? Infinity : typeof v === "string" && /^-?Infinity$/.test(v) ? Number(v) : v);
    const x = value(a), y = value(b);
    if (typeof x === "number" && typeof y === "number") return x < y ? -1 : x > y ? 1 : 0;
    if ((x ?? null) === null || (y ?? null) === null) return ((x ?? null) === null ? -1 : 0) + ((y ?? null) === null ? 1 : 0);
    return Text.compare(String(x), String(y));
  }
}

if (typeof module !== "undefined") module.exports = { Report };
