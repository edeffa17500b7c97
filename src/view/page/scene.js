// Places for the items that are visible: each open item is a box around the layout of its children.
"use strict";

const Scene = (() => {
  const LINE = 15, HEAD = 21, BAR = 26, PAD = 14, MOST_LINES = 4, MOST_WIDTH = 230, MOST_PORTS = 24;
  let serial = 0;

  // What is written on a closed item.
  function linesOf(item) {
    const node = item.node;
    if (node === null) return groupLines(item);
    if (node.kind !== "node") return [Text.oneLine(node.name), ...[...node.inputs, ...node.outputs].slice(0, 1).map(Text.typeText)].filter(Boolean);
    const lines = node.name ? [Text.oneLine(node.name)] : [];
    for (const v of node.inputs) if (Text.isConstant(v) && lines.length < MOST_LINES) lines.push(`${Text.cutFront(Text.oneLine(Text.plainName(v)), 18)} ${Text.extents(v.shape)}`);
    for (const a of node.attrs) if (lines.length < MOST_LINES) lines.push(`${a.key}: ${Text.oneLine(a.val)}`);
    for (const [name, body] of Object.entries(node.subgraphs)) lines.push(`▸ ${name} (${body.all_node_ids.length})`);
    if (node.calls !== undefined) lines.push("▸ function");
    return lines.map((l) => Text.cut(l, 36));
  }
  function operators(item) {
    const counts = new Map();
    item.eachLeaf((l) => { if (l.node.kind === "node") counts.set(l.node.op_type, (counts.get(l.node.op_type) || 0) + 1); });
    return [...counts].sort((a, b) => b[1] - a[1]);
  }
  function groupLines(item) {
    const counts = operators(item), shown = counts.slice(0, 2).map(([op, n]) => `${n} ${Text.cut(Text.oneLine(op), 18)}`);
    return [`${item.count} node${item.count === 1 ? "" : "s"}`, Text.cut(shown.join(", ") + (counts.length > 2 ? ", …" : ""), 36)].filter(Boolean);
  }
  const titleOf = (item) => {
    if (item.node === null) return Text.cut(Text.oneLine(item.title), 34);
    return item.node.kind === "node" ? Text.cut(Text.oneLine(item.node.op_type), 34) : { input: "Input", output: "Output" }[item.node.kind];
  };

  function closedBox(item) {
    const title = titleOf(item), lines = linesOf(item);
    const longest = Math.max((title.length + (item.canOpen ? 2 : 0)) * 7.4, ...lines.map((l) => Math.min(36, l.length) * 6.3));
    return { w: Math.min(MOST_WIDTH, Math.max(60, longest + 16)), h: HEAD + LINE * lines.length + (lines.length ? 5 : 0), title, lines };
  }

  // The edges between the children of an open item, and what comes in and goes out: leaves, each at a port.
  function connect(item) {
    const stamp = ++serial, children = item.children, count = children.length, edges = new Map(), ins = new Map(), outs = new Map();
    children.forEach((c, i) => c.eachLeaf((l) => { l.stamp = stamp; l.top = i; }));
    const add = (from, to, leaf) => {
      const key = from * 1048576 + to;
      const known = edges.get(key);
      if (known === undefined) edges.set(key, { from, to, leaves: new Set([leaf]) });
      else if (known.leaves.size < 200) known.leaves.add(leaf);
    };
    // Ports stand behind the children: incoming ones at even, outgoing ones at odd places, the last for all that are left.
    const port = (ports, leaf, odd) => {
      let k = ports.get(leaf);
      if (k === undefined) ports.set(leaf, k = count + 2 * Math.min(ports.size, MOST_PORTS - 1) + odd);
      return k;
    };
    children.forEach((c, i) => c.eachLeaf((l) => {
      for (const p of l.sources)
        if (p.stamp !== stamp) { if (p !== item) add(port(ins, p, 0), i, p); }
        else if (p.top !== i) add(p.top, i, p);
      if (item.node !== null && l.node.kind === "output" && l.frame.owner === item) add(i, port(outs, item, 1), item);
      for (const t of l.targets) if (t.stamp !== stamp && t !== item) { add(i, port(outs, l, 1), l); break; }
    }));
    return { edges: [...edges.values()], ins, outs };
  }

  // The layout of an open item's children. Ports of the layout are renumbered to be without gaps.
  function arrange(item) {
    const children = item.children, { edges, ins, outs } = connect(item);
    const boxes = children.map((c) => {
      const n = c.node, isFree = n !== null && c.children === null;
      return { w: c.box.w, h: c.box.h, slides: isFree && n.kind === "input", floats: isFree && n.kind === "node" && c.sources.length === 0 };
    });
    const place = new Map(children.map((_, i) => [i, i])), sides = [];
    for (const [side, ports] of [["in", ins], ["out", outs]]) for (const k of new Set(ports.values())) {
      place.set(k, boxes.length);
      boxes.push({ w: 10, h: 4, sinks: side === "out" });
      sides.push(side);
    }
    const layout = layoutGraph(boxes, edges.map((e) => [place.get(e.from), place.get(e.to)]));
    const pairs = new Map(edges.map((e) => [place.get(e.from) * 1048576 + place.get(e.to), e.leaves]));
    const owner = new Int32Array(layout.vx.length);
    boxes.forEach((_, i) => {
      owner[i] = i;
      owner.fill(i, layout.trunkStart[i], layout.trunkStart[i] + layout.trunkLength[i]);
    });
    const jumps = new Map();
    for (const [a, b] of layout.jumps) for (const i of [a, b]) jumps.set(i, (jumps.get(i) || 0) + 1);
    const middle = layout.left + layout.width / 2;
    const xOf = (ports) => new Map([...ports].map(([leaf, k]) => [leaf, layout.x[place.get(k)] - middle]));
    item.scene = { layout, owner, pairs, jumps, sides, count: children.length, inX: xOf(ins), outX: xOf(outs), ways: null, ends: new Map(),
                   rankItems: layout.ranks.map((r) => r.order.filter((v) => v < children.length)) };
    const title = titleOf(item);
    item.box = { w: Math.max(layout.width, title.length * 8 + 60, 80) + 2 * PAD, h: layout.height + BAR + 2 * PAD, title: item.node === null ? title : `${title} ${Text.cut(Text.oneLine(item.node.name), 30)}`, lines: [] };
  }

  // Boxes of this item and all visible ones below it that have none.
  function measure(item) {
    if (item.box !== null) return;
    if (!item.isOpen) {
      item.box = closedBox(item);
      return;
    }
    for (const c of item.children) measure(c);
    arrange(item);
  }
  // Boxes that have to be made anew because this item changed.
  function forget(item) {
    for (let i = item; i; i = i.parent) i.box = i.scene = null;
  }
  function forgetAll(item) {
    const pending = [item];
    while (pending.length > 0) {
      const i = pending.pop();
      i.box = i.scene = null;
      if (i.children !== null) pending.push(...i.children);
    }
  }

  // Where the content of an open item begins, relative to the centre of its top.
  const inset = (item) => [-(item.scene.layout.left + item.scene.layout.width / 2), item.parent === null ? 0 : BAR + PAD];
  // The centre of an item's top, in the drawing of its root.
  function placeOf(item) {
    let x = 0, y = 0;
    const path = item.path();
    for (let k = 0; k + 1 < path.length; k++) {
      const [dx, dy] = inset(path[k]), l = path[k].scene.layout, i = path[k].children.indexOf(path[k + 1]);
      x += dx + l.x[i];
      y += dy + l.y[i];
    }
    return [x, y];
  }
  // The ranks of a layout between two heights, one more on either side.
  function ranksBetween(layout, top, bottom) {
    const ranks = layout.ranks;
    const firstBelow = (y) => {
      let low = 0, high = ranks.length;
      while (low < high) { const m = (low + high) >> 1; if (ranks[m].top > y) high = m; else low = m + 1; }
      return low;
    };
    return [Math.max(0, firstBelow(top) - 2), Math.min(ranks.length, firstBelow(bottom) + 1)];
  }
  // Where in a rank's items the first stands that reaches beyond x.
  function firstBeyond(item, list, x) {
    let low = 0, high = list.length;
    while (low < high) { const m = (low + high) >> 1; if (item.scene.layout.vx[list[m]] + item.children[list[m]].box.w / 2 >= x) high = m; else low = m + 1; }
    return low;
  }
  // The innermost visible item at a place of the drawing, null outside of all.
  function pick(root, x, y) {
    let item = root, found = null, left = 0, top = 0;
    while (item.isOpen && item.scene !== null) {
      const [dx, dy] = inset(item), px = x - left - dx, py = y - top - dy, l = item.scene.layout;
      const [first, last] = ranksBetween(l, py, py);
      let next = -1;
      for (let r = first; r < last && next < 0; r++) {
        const list = item.scene.rankItems[r], k = firstBeyond(item, list, px);
        if (k >= list.length) continue;
        const i = list[k], b = item.children[i].box;
        if (Math.abs(px - l.x[i]) <= b.w / 2 && py >= l.y[i] && py <= l.y[i] + b.h) next = i;
      }
      if (next < 0) break;
      left += dx + l.x[next];
      top += dy + l.y[next];
      found = item = item.children[next];
    }
    return found === null ? null : { item: found, left: left - found.box.w / 2, top };
  }
  // The size of the drawing of a root.
  function extent(root) {
    const l = root.scene.layout;
    return { w: l.width, h: l.height };
  }
  // Number of items that are drawn when everything is in view.
  function visibleCount(item) {
    let count = 0;
    const pending = [item];
    while (pending.length > 0) {
      const i = pending.pop();
      count++;
      if (i.isOpen && i.children !== null) pending.push(...i.children);
    }
    return count;
  }

  return { HEAD, LINE, BAR, PAD, measure, forget, forgetAll, inset, placeOf, ranksBetween, firstBeyond, pick, extent, visibleCount, operators, titleOf };
})();
