// Two graphs side by side: which nodes of the one belong to which of the other.
"use strict";

class Matching {
  // data: {pairs: [[name or id, name or id]], changed: [[name or id of the first, what]]}; the rest of the nodes has no match.
  constructor(first, second, data) {
    this.sides = [new Map(), new Map()];
    this.notes = new Map(data.changed.map(([name, note]) => [first.idOf(name), note]));
    const add = (side, a, b) => {
      if (!this.sides[side].has(a)) this.sides[side].set(a, []);
      this.sides[side].get(a).push(b);
    };
    for (const [a, b] of data.pairs) {
      const x = first.idOf(a), y = second.idOf(b);
      if (x === undefined || y === undefined) continue;
      add(0, x, y);
      add(1, y, x);
    }
  }
  // Ids of the other side.
  of(side, id) { return this.sides[side].get(id) ?? []; }
  // A metric of one side: what became of each node.
  metric(side, items) {
    const values = new Map();
    for (const [id, n] of items.nodes) {
      if (n.kind !== "node") continue;
      const others = this.of(side, id);
      const changed = side === 0 ? this.notes.has(id) : others.some((o) => this.notes.has(o));
      values.set(id, others.length === 0 ? "only here" : changed ? "changed" : "in both");
    }
    return { key: "match", title: "difference", kind: "word", words: ["in both", "changed", "only here"], values };
  }
}

if (typeof module !== "undefined") module.exports = { Matching };
