// What belongs together in a graph: scopes in the names of nodes, blocks that repeat, and stretches of what is left.
"use strict";

const Scopes = (() => {
  // Lists up to this length stay as they are; longer ones are searched for blocks, and then divided.
  const LONG = 40, MOST = 90, STRETCH = 50, DEEPEST = 64, GRAM = 6, MOST_PERIODS = 8;

  // What separates scopes in these names: the first that a third of them has.
  function separator(names) {
    for (const s of ["/", "::", "."]) {
      let count = 0;
      for (const n of names) if (n.indexOf(s, 1) > 0) count++;
      if (count * 3 >= names.length && count > 0) return s;
    }
    return null;
  }
  const nameOf = (leaf) => {
    const n = leaf.node;
    const name = n.name || (n.outputs.length > 0 ? n.outputs[0].name : "");
    return name.length > 2000 ? name.slice(0, 2000) : name;
  };

  // The trie of names, as items; a scope with one member is that member.
  function byNames(leaves) {
    const nodes = leaves.filter((l) => l.node.kind === "node"), names = nodes.map(nameOf), mark = separator(names);
    if (mark === null) return leaves;
    const top = { children: [], scopes: new Map(), title: "" };
    const scopeAt = (path) => {
      let at = top;
      for (const part of path) {
        let next = at.scopes.get(part);
        if (next === undefined) {
          next = { children: [], scopes: new Map(), title: part };
          at.scopes.set(part, next);
          at.children.push(next);
        }
        at = next;
      }
      return at;
    };
    let i = 0;
    for (const leaf of leaves) {
      const path = leaf.node.kind === "node" ? names[i++].split(mark).filter(Boolean).slice(0, -1).slice(0, DEEPEST) : [];
      scopeAt(path).children.push(leaf);
    }
    const finish = (scope) => {
      const children = scope.children.map((c) => (c instanceof Item ? c : finish(c)));
      if (children.length !== 1 || scope === top) return scope === top ? children : new Item("scope", scope.title).adopt(children);
      const only = children[0];
      if (only.kind === "scope") only.title = `${scope.title}${mark}${only.title}`;
      return only;
    };
    return finish(top);
  }

  // A number for what an item computes: equal for equal structures.
  function tokens(items) {
    const numbers = new Map();
    const number = (key) => {
      let n = numbers.get(key);
      if (n === undefined) numbers.set(key, n = numbers.size + 1);
      return n;
    };
    const of = (item) => (item.children === null ? number(`${item.node.op_type}/${item.node.inputs.length}`) : number(item.children.map(of).join(",")));
    return items.map(of);
  }

  // Distances at which the same few tokens come again, the most frequent first.
  function periods(token) {
    const last = new Map(), counts = new Map();
    for (let i = 0; i + GRAM <= token.length; i++) {
      const key = token.slice(i, i + GRAM).join(","), before = last.get(key);
      if (before !== undefined && i - before > 1) counts.set(i - before, (counts.get(i - before) || 0) + 1);
      last.set(key, i);
    }
    return [...counts].sort((a, b) => b[1] - a[1] || b[0] - a[0]).slice(0, MOST_PERIODS).map(([p]) => p);
  }

  // Where a sequence repeats with a period at least twice: {start, period, times}, the longest first come, without overlap.
  function repeats(token) {
    const found = [];
    for (const period of periods(token)) {
      let run = 0;
      for (let i = 0; i + period <= token.length; i++) {
        if (i + period < token.length && token[i] === token[i + period]) { run++; continue; }
        const times = Math.floor((run + period) / period);
        if (times >= 2 && times * period >= 8) found.push({ start: i - run, period, times });
        run = 0;
      }
    }
    found.sort((a, b) => b.period * b.times - a.period * a.times || a.period - b.period);
    const taken = new Uint8Array(token.length), chosen = [];
    for (const r of found) {
      const end = r.start + r.period * r.times;
      if (taken[r.start] || taken[end - 1] || taken[(r.start + end) >> 1]) continue;
      let isFree = true;
      for (let i = r.start; i < end && isFree; i++) isFree = taken[i] === 0;
      if (!isFree) continue;
      taken.fill(1, r.start, end);
      chosen.push(r);
    }
    return chosen.sort((a, b) => a.start - b.start);
  }

  function byRepeats(items) {
    const chosen = repeats(tokens(items)), list = [];
    let at = 0;
    for (const { start, period, times } of chosen) {
      if (period === items.length) continue;
      while (at < start) list.push(items[at++]);
      for (let k = 0; k < times; k++, at += period) {
        const block = new Item("block", `block ${k + 1} of ${times}`).adopt(items.slice(at, at + period));
        if (block.count === 0) list.push(...block.children);
        else list.push(block);
      }
    }
    while (at < items.length) list.push(items[at++]);
    return list;
  }

  // Stretches of neighbours, until no list is too long.
  function byStretches(items) {
    let list = items;
    while (list.length > MOST) {
      const parts = Math.ceil(list.length / STRETCH), next = [];
      let begin = 0;
      for (let k = 0; k < parts; k++) {
        const end = Math.floor((list.length * (k + 1)) / parts);
        const part = list.slice(begin, end), titles = [part[0], part[part.length - 1]].map((i) => i.title.split(" … "));
        const stretch = new Item("stretch", `${Text.cut(titles[0][0], 40)} … ${Text.cut(titles[1][titles[1].length - 1], 40)}`).adopt(part);
        next.push(stretch);
        begin = end;
      }
      list = next;
    }
    return list;
  }

  function divide(items) {
    for (const i of items) if (i.children !== null) i.adopt(divide(i.children));
    if (items.length <= LONG) return items;
    const ends = (kind) => items.filter((i) => i.node !== null && i.node.kind === kind), inner = items.filter((i) => i.node === null || (i.node.kind !== "input" && i.node.kind !== "output"));
    const blocks = inner.length > LONG ? byRepeats(inner) : inner;
    for (const i of blocks) if (i.kind === "block") i.adopt(divide(i.children));
    return [...byStretches(ends("input")), ...byStretches(blocks), ...byStretches(ends("output"))];
  }

  return { group: (leaves) => divide(byNames(leaves)), repeats, separator };
})();

if (typeof module !== "undefined") module.exports = { Scopes };
