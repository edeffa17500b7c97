// Draws a root item with a pen: a canvas's context, or what stands in for one (SvgPen). Only what the view holds is drawn,
// and of what is too small to be seen, its outline.
"use strict";

const Draw = (() => {
  const { HEAD, LINE, BAR } = Scene;
  const FONT = { title: "600 12px system-ui, sans-serif", text: "11px system-ui, sans-serif", small: "10px system-ui, sans-serif" };
  // In pixels of the screen: a group smaller than this is a filled box; text lower than this is left out.
  const SMALL_GROUP = 22, SMALL_TEXT = 0.22;

  // style: {ink, colorOf, selected, found: set of items or null, smallest: of groups that are drawn with what is in them}
  function paint(pen, root, scale, view, style) {
    const painter = { pen, scale, style, smallest: style.smallest ?? SMALL_GROUP };
    content(painter, root, 0, 0, view);
  }

  function content(painter, item, x, y, view) {
    const { scene, children } = item, [dx, dy] = Scene.inset(item), ox = x + dx, oy = y + dy, l = scene.layout;
    const [first, last] = Scene.ranksBetween(l, view.top - oy, view.bottom - oy);
    segments(painter, item, ox, oy, first, last, view);
    for (let r = first; r < last; r++) {
      const list = scene.rankItems[r];
      for (let k = Scene.firstBeyond(item, list, view.left - ox); k < list.length; k++) {
        const i = list[k], c = children[i];
        if (l.vx[i] - c.box.w / 2 > view.right - ox) break;
        box(painter, c, ox + l.x[i], oy + l.y[i], view, scene.jumps.get(i));
      }
    }
  }

  function segments(painter, item, ox, oy, first, last, view) {
    const { pen, scale, style } = painter, { scene, children } = item, l = scene.layout, places = scene.count + scene.sides.length;
    const isCurved = scale > 0.25, marked = [], chosen = style.selected !== null && style.selected.parent === item ? children.indexOf(style.selected) : -1;
    const near = chosen < 0 ? null : ways(item, chosen);
    const line = (x0, y0, bottom, x1, y1) => {
      pen.moveTo(x0, y0);
      if (y0 < bottom) pen.lineTo(x0, bottom);
      const middle = (bottom + y1) / 2;
      if (isCurved) pen.bezierCurveTo(x0, middle, x1, middle, x1, y1);
      else pen.lineTo(x1, y1);
    };
    const course = (s, r) => {
      const a = l.segments.from[s], b = l.segments.to[s], rank = l.ranks[r], ax = l.vx[a] + ox, bx = l.vx[b] + ox;
      const reach = a < scene.count || b < scene.count ? 4000 : 0;
      if (Math.max(ax, bx) + reach < view.left || Math.min(ax, bx) - reach > view.right) return;
      const y1 = l.ranks[r + 1].top + oy, bottom = rank.top + rank.height + oy;
      const y0 = a < places ? rank.top + oy + (a < scene.count ? children[a].box.h : 4) : rank.top + oy;
      for (const [p, q] of ends(item, s)) line(ax + p, y0, bottom, bx + q, y1);
    };
    pen.strokeStyle = style.ink.edge;
    pen.lineWidth = Math.max(1.1, 0.6 / scale);
    pen.beginPath();
    for (let r = first; r < Math.min(last, l.ranks.length - 1); r++)
      for (let s = l.segments.start[r]; s < l.segments.start[r + 1]; s++)
        if (near !== null && near.has(s)) marked.push([s, r]);
        else course(s, r);
    pen.stroke();
    if (marked.length === 0) return;
    pen.strokeStyle = style.ink.mark;
    pen.lineWidth *= 1.8;
    pen.beginPath();
    for (const [s, r] of marked) course(s, r);
    pen.stroke();
  }

  // Where a segment begins and ends, relative to the centres: at the ports of open items.
  const STRAIGHT = [[0, 0]];
  function ends(item, s) {
    const { scene, children } = item, l = scene.layout, a = l.segments.from[s], b = l.segments.to[s];
    const from = a < scene.count && children[a].scene !== null ? children[a].scene.outX : null, to = b < scene.count && children[b].scene !== null ? children[b].scene.inX : null;
    if (from === null && to === null) return STRAIGHT;
    let known = scene.ends.get(s);
    if (known === undefined) scene.ends.set(s, known = portsOf(scene, scene.owner[a], b, from, to));
    return known;
  }
  function portsOf(scene, source, b, from, to) {
    let leaves = b < scene.count + scene.sides.length ? scene.pairs.get(source * 1048576 + b) : undefined;
    if (leaves === undefined && from !== null) {
      leaves = new Set();
      for (const [key, list] of scene.pairs) if (Math.floor(key / 1048576) === source) for (const leaf of list) leaves.add(leaf);
    }
    const list = new Map();
    for (const leaf of leaves ?? []) {
      const p = (from && from.get(leaf)) ?? 0, q = (to && to.get(leaf)) ?? 0;
      list.set(`${p} ${q}`, [p, q]);
    }
    return list.size > 0 ? [...list.values()] : STRAIGHT;
  }

  // The segments that lead to and from a child.
  function ways(item, i) {
    const { scene } = item, l = scene.layout;
    if (scene.ways !== null && scene.ways.of === i) return scene.ways.set;
    const points = new Set();
    for (const key of scene.pairs.keys()) {
      const from = Math.floor(key / 1048576), to = key % 1048576;
      if (to !== i) continue;
      const count = l.rank[to] - l.rank[from] - 1;
      for (let k = 0; k < count && count <= l.trunkLength[from]; k++) points.add(l.trunkStart[from] + k);
    }
    const set = new Set();
    for (let s = 0; s < l.segments.from.length; s++) {
      const a = l.segments.from[s], b = l.segments.to[s];
      if (scene.owner[a] === i || b === i || points.has(b)) set.add(s);
    }
    scene.ways = { of: i, set };
    return set;
  }

  function box(painter, item, x, y, view, jumps) {
    const { pen, scale, style } = painter, b = item.box, left = x - b.w / 2;
    if (item.isOpen && item.scene !== null) open(painter, item, x, y, view);
    else if (scale < SMALL_TEXT && b.h * scale < SMALL_GROUP) {
      pen.fillStyle = style.colorOf(item);
      pen.fillRect(left, y, b.w, b.h);
    } else closed(painter, item, left, y, jumps);
    if (style.found !== null && style.found.has(item)) outline(painter, left, y, b, style.ink.found, 2);
    if (item === style.selected) outline(painter, left, y, b, style.ink.mark, 2.5);
  }
  function outline({ pen, scale }, x, y, b, color, width) {
    pen.strokeStyle = color;
    pen.lineWidth = Math.max(width, 2 / scale);
    pen.strokeRect(x - 2, y - 2, b.w + 4, b.h + 4);
  }

  function open(painter, item, x, y, view) {
    const { pen, scale, style } = painter, b = item.box, left = x - b.w / 2;
    if (Math.min(b.h, b.w) * scale < painter.smallest) {
      pen.fillStyle = style.colorOf(item);
      pen.fillRect(left, y, b.w, b.h);
      return;
    }
    pen.fillStyle = style.ink.inside;
    pen.beginPath();
    pen.roundRect(left, y, b.w, b.h, 6);
    pen.fill();
    pen.strokeStyle = style.colorOf(item);
    pen.lineWidth = Math.max(1.4, 0.7 / scale);
    pen.stroke();
    content(painter, item, x, y, view);
    ports(painter, item, x, y);
    // The title keeps its size while the box is large enough on the screen, so that an overview can be read.
    const size = Math.min(4, Math.max(1, 0.75 / scale));
    if (b.w * scale < 60 || b.h * scale < 30) return;
    pen.fillStyle = style.ink.ink;
    pen.font = size === 1 ? FONT.title : `600 ${Math.round(12 * size)}px system-ui, sans-serif`;
    pen.fillText(`▾ ${b.title}`, left + 9, y + Math.min(17 * size, b.h - 4), b.w - 18);
  }

  // From the border to the ports inside.
  function ports({ pen, scale, style }, item, x, y) {
    const { inX, outX, layout } = item.scene, top = y + BAR + Scene.PAD, bottom = top + layout.height;
    if (scale < 0.1) return;
    pen.strokeStyle = style.ink.edge;
    pen.lineWidth = Math.max(1.1, 0.6 / scale);
    pen.beginPath();
    for (const px of new Set(inX.values())) {
      pen.moveTo(x + px, y);
      pen.lineTo(x + px, top + 4);
    }
    for (const px of new Set(outX.values())) {
      pen.moveTo(x + px, bottom - 4);
      pen.lineTo(x + px, y + item.box.h);
    }
    pen.stroke();
  }

  function closed(painter, item, x, y, jumps) {
    const { pen, scale, style } = painter, b = item.box, isGroup = item.node === null;
    pen.fillStyle = style.colorOf(item);
    if (isGroup) {
      // Two edges behind it: there is more than one.
      pen.globalAlpha = 0.45;
      pen.beginPath();
      pen.roundRect(x + 4, y + 4, b.w, b.h, 6);
      pen.fill();
      pen.globalAlpha = 1;
    }
    pen.beginPath();
    pen.roundRect(x, y, b.w, b.h, isGroup ? 6 : 4);
    pen.fill();
    if (b.lines.length > 0) {
      pen.fillStyle = style.ink.panel;
      pen.fillRect(x + 1, y + HEAD, b.w - 2, b.h - HEAD - 3);
    }
    if (scale < SMALL_TEXT) return;
    pen.fillStyle = "#fff";
    pen.font = FONT.title;
    pen.fillText(item.canOpen ? `▸ ${b.title}` : b.title, x + 7, y + 15, b.w - 14);
    pen.font = FONT.text;
    pen.fillStyle = style.ink.ink;
    b.lines.forEach((line, k) => pen.fillText(line, x + 7, y + HEAD + 12 + LINE * k, b.w - 14));
    if (scale >= 0.45) notes(painter, item, x, y, jumps);
  }

  // What flows out of a node, and how many of its edges are not drawn.
  function notes({ pen, style }, item, x, y, jumps) {
    const b = item.box, node = item.node;
    pen.fillStyle = style.ink.faint;
    pen.font = FONT.small;
    if (node !== null && node.kind === "node" && item.targets.length > 0) {
      const used = node.outputs.filter((v) => v.name);
      if (used.length === 1 && Text.typeText(used[0])) pen.fillText(Text.typeText(used[0]), x + b.w / 2 + 5, y + b.h + 12);
    }
    if (jumps) pen.fillText(`↯ ${jumps}`, x + b.w + 3, y + 12);
  }

  return { paint, BAR };
})();
