// What nodes can be coloured by: numbers or words of each node, added up for groups.
"use strict";

class Metric {
  // {key, title, unit, kind: "number" | "word", combine: "sum" | "max", values: pairs of a name or id and a value, words: [from good to bad]}
  constructor(items, data) {
    Object.assign(this, { key: data.key, title: data.title, unit: data.unit ?? "", isNumber: data.kind !== "word", combine: data.combine ?? "sum", words: data.words ?? [], values: new Map(), groups: new Map(), unmatched: [] });
    const add = (name, value) => {
      const id = items.idOf(name);
      if (id === undefined) this.unmatched.push(name);
      else this.values.set(id, this.merge(this.values.get(id), value));
    };
    for (const [name, value] of data.values) {
      // The name of a layer that stands for several nodes lists them.
      const number = this.isNumber ? Number(value) : value;
      if (items.idOf(name) !== undefined || !name.includes(" + ")) add(name, number);
      else {
        const parts = name.split(" + ").filter((p) => items.idOf(p) !== undefined);
        if (parts.length === 0) this.unmatched.push(name);
        for (const p of parts) add(p, this.isNumber && this.combine === "sum" ? number / parts.length : number);
      }
    }
    this.scale();
  }

  // Of two values for the same thing.
  merge(a, b) {
    if (a === undefined) return b;
    if (b === undefined) return a;
    if (!this.isNumber) return a === b ? a : this.words.length === 0 ? "several" : this.words.indexOf(a) > this.words.indexOf(b) ? a : b;
    if (Number.isNaN(a) || Number.isNaN(b)) return NaN;
    return this.combine === "sum" ? a + b : Math.max(a, b);
  }

  scale() {
    let low = Infinity, high = -Infinity, positive = Infinity;
    if (this.isNumber)
      for (const v of this.values.values()) {
        if (!Number.isFinite(v)) continue;
        low = Math.min(low, v);
        high = Math.max(high, v);
        if (v > 0) positive = Math.min(positive, v);
      }
    Object.assign(this, { low, high, positive, isLogarithmic: low >= 0 && high > 100 * positive });
    if (!this.isNumber && this.words.length === 0) this.colors = new Map([...new Set(this.values.values())].sort().map((w, i) => [w, Metric.PALETTE[i % Metric.PALETTE.length]]));
  }

  of(item) {
    if (item.node !== null && item.node.kind !== "outside") {
      const own = this.values.get(item.node.node_id);
      if (own !== undefined || item.children === null) return own;
    }
    if (item.children === null) return undefined;
    if (!this.groups.has(item)) {
      let value;
      item.eachLeaf((l) => { if (l !== item) value = this.merge(value, this.values.get(l.node.node_id)); });
      this.groups.set(item, value);
    }
    return this.groups.get(item);
  }

  color(item) { return this.colorOf(this.of(item)); }
  colorOf(value) {
    if (value === undefined) return Metric.NONE;
    if (!this.isNumber) {
      if (value === "several") return Metric.NONE;
      if (this.words.length > 0) return Metric.ramp(this.words.length < 2 ? 0 : this.words.indexOf(value) / (this.words.length - 1));
      return this.colors.get(value) ?? Metric.NONE;
    }
    if (!Number.isFinite(value)) return Metric.WORST;
    if (this.high <= this.low) return Metric.ramp(0.5);
    if (!this.isLogarithmic) return Metric.ramp((value - this.low) / (this.high - this.low));
    if (value <= 0) return Metric.ramp(0);
    return Metric.ramp((Math.log(value) - Math.log(this.positive)) / (Math.log(this.high) - Math.log(this.positive)));
  }
  text(value) { return value === undefined ? "" : this.isNumber ? Text.short(value, this.unit) : value; }

  // [colour, text], from the least to the largest.
  legend() {
    if (!this.isNumber) {
      const used = new Set(this.values.values()), words = this.words.length > 0 ? this.words : [...this.colors.keys()];
      return words.filter((w) => used.has(w)).map((w) => [this.colorOf(w), w]);
    }
    if (this.values.size === 0 || !Number.isFinite(this.low)) return [];
    const rows = [];
    for (let i = 0; i <= 4; i++) {
      const part = i / 4;
      const value = this.isLogarithmic ? Math.exp(Math.log(this.positive) + part * (Math.log(this.high) - Math.log(this.positive))) : this.low + part * (this.high - this.low);
      rows.push([Metric.ramp(this.high > this.low ? part : 0.5), Text.short(this.unit === "B" ? Math.round(value) : value, this.unit)]);
      if (this.high <= this.low) break;
    }
    return rows;
  }

  // The items with the largest values: [leaf id, value].
  ranked() {
    const list = [...this.values];
    return this.isNumber ? list.sort((a, b) => (Number.isNaN(b[1]) ? 1 : Number.isNaN(a[1]) ? -1 : b[1] - a[1])) : list.sort((a, b) => this.words.indexOf(b[1]) - this.words.indexOf(a[1]));
  }

  static ramp(part) {
    const stops = Metric.STOPS, at = Math.min(1, Math.max(0, part)) * (stops.length - 1), i = Math.min(stops.length - 2, Math.floor(at)), f = at - i;
    return `rgb(${stops[i].map((c, k) => Math.round(c + (stops[i + 1][k] - c) * f)).join(",")})`;
  }
}
Metric.STOPS = [[72, 101, 148], [38, 124, 124], [84, 128, 20], [168, 118, 0], [208, 72, 12], [168, 0, 38]];
Metric.PALETTE = ["#1971c2", "#e8590c", "#2b8a3e", "#9c36b5", "#0c8599", "#a61e4d", "#846358", "#5f3dc4", "#5c940d", "#c2255c", "#364fc7", "#b08900"];
Metric.NONE = "#868e96";
Metric.WORST = "#7a0019";

// The metrics of a page: those of the payload itself, and those that its report brings.
const Metrics = (() => {
  function own(items) {
    const precision = new Map();
    for (const [id, n] of items.nodes) {
      const v = n.kind === "node" ? n.outputs.find((o) => o.dtype) : undefined;
      if (v !== undefined) precision.set(id, Text.cut(v.dtype, 40));
    }
    const list = [{ key: "precision", title: "precision", kind: "word", values: precision }];
    const costs = items.payload.costs;
    if (costs) {
      const column = (k) => new Map(Object.entries(costs).filter(([, c]) => typeof c[k] === "number").map(([id, c]) => [id, c[k]]));
      list.push({ key: "macs", title: "multiply-accumulates", values: column(0) }, { key: "weights", title: "bytes of weights", unit: "B", values: column(1) }, { key: "outputs", title: "bytes of outputs", unit: "B", values: column(2) });
    }
    return list;
  }
  function all(items, report) {
    const named = report?.metrics ?? [];
    return [...own(items), ...named].map((m) => new Metric(items, m)).filter((m) => m.values.size > 0);
  }
  return { all };
})();

if (typeof module !== "undefined") module.exports = { Metric, Metrics };
