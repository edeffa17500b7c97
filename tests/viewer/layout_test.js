// The viewer's layout on graphs of many shapes: nodes do not overlap, edges go down, and time grows as the graph does.
// usage: node layout_test.js LAYOUT_JS
"use strict";
const assert = require("node:assert");
const { layoutGraph } = require(require("node:path").resolve(process.argv[2]));

let state = 1;
// Numbers from 0 to n - 1, the same in every run (xorshift).
function random(n) {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return (state >>> 0) % n;
}
const box = (floats = false) => ({ w: 60 + random(120), h: 21 + random(60), floats });

function check(name, nodes, edges, options) {
  const begin = process.cpuUsage(), l = layoutGraph(nodes, edges, options), used = process.cpuUsage(begin), time = Math.round((used.user + used.system) / 1000);
  const count = nodes.length;
  const width = (v) => (v < count ? nodes[v].w : 0);
  let placed = 0;
  l.ranks.forEach((rank, r) => {
    for (let i = 0; i < rank.order.length; i++) {
      const v = rank.order[i];
      placed += v < count ? 1 : 0;
      if (v < count) {
        assert.strictEqual(l.rank[v], r, name);
        assert.strictEqual(l.y[v], rank.top, name);
        assert(nodes[v].h <= rank.height, `${name}: a node is higher than its row`);
        assert(Number.isFinite(l.x[v]), `${name}: no place`);
      }
      if (i > 0) {
        const u = rank.order[i - 1];
        assert(l.vx[u] + width(u) / 2 < l.vx[v] - width(v) / 2, `${name}: ${u} and ${v} overlap in row ${r}`);
      }
    }
    if (r > 0) assert(l.ranks[r - 1].top + l.ranks[r - 1].height < rank.top, `${name}: rows overlap`);
  });
  assert.strictEqual(placed, count, `${name}: every node has one place`);

  // Segments go from a row to the next, and together with the jumps they are the edges.
  const rankOf = new Map();
  l.ranks.forEach((rank, r) => rank.order.forEach((v) => rankOf.set(v, r)));
  const before = new Map();
  for (let r = 0; r < l.ranks.length; r++)
    for (let s = l.segments.start[r]; s < l.segments.start[r + 1]; s++) {
      const a = l.segments.from[s], b = l.segments.to[s];
      assert.strictEqual(rankOf.get(a), r, `${name}: a segment begins elsewhere`);
      assert.strictEqual(rankOf.get(b), r + 1, `${name}: a segment does not go down one row`);
      if (b >= count) before.set(b, a);
    }
  const drawn = [];
  for (let s = 0; s < l.segments.from.length; s++) {
    if (l.segments.to[s] >= count) continue;
    let a = l.segments.from[s];
    while (a >= count) a = before.get(a);
    drawn.push(`${a} ${l.segments.to[s]}`);
  }
  const all = [...drawn, ...l.jumps.map((j) => j.join(" "))].sort();
  assert.deepStrictEqual(all, edges.map((e) => e.join(" ")).sort(), `${name}: the edges are others`);
  return { ...l, time, drawn };
}

function randomGraph(count, reach, far) {
  const nodes = Array.from({ length: count }, () => box(random(8) === 0)), edges = new Set();
  for (let i = 1; i < count; i++) {
    if (nodes[i].floats) continue;
    edges.add(`${Math.max(0, i - 1 - random(reach))} ${i}`);
    if (random(3) === 0) edges.add(`${far ? random(i) : Math.max(0, i - 1 - random(reach))} ${i}`);
  }
  return [nodes, [...edges].map((e) => e.split(" ").map(Number))];
}

// Small ones, with known places.
check("nothing", [], []);
check("one", [box()], []);
{
  const l = check("chain", [box(), box(), box()], [[0, 1], [1, 2]]);
  assert.deepStrictEqual([...l.rank], [0, 1, 2]);
  assert(Math.abs(l.x[0] - l.x[1]) < 1e-6 && Math.abs(l.x[1] - l.x[2]) < 1e-6, "a chain is straight");
}
{
  // input -> a -> b -> c with a constant for c: it stands in b's row, and what makes it above.
  const l = check("constant", [box(), box(), box(), box(), box(true), box(true)], [[0, 1], [1, 2], [2, 3], [4, 3], [5, 4]]);
  assert.deepStrictEqual([...l.rank], [0, 1, 2, 3, 2, 1]);
}
{
  // An input for the last of a chain stands above that; what it alone feeds stays where it was.
  const input = () => ({ ...box(), slides: true });
  const l = check("late input", [input(), box(), box(), input(), box()], [[0, 1], [1, 2], [3, 2], [0, 4]]);
  assert.deepStrictEqual([...l.rank], [0, 1, 2, 1, 1]);
}
{
  const l = check("skip", [box(), box(), box()], [[0, 1], [1, 2], [0, 2]]);
  assert.strictEqual(l.trunkLength[0], 1, "the edge over the middle row has a point there");
  assert.strictEqual(l.jumps.length, 0);
}
{
  // Two pairs whose order in the list crosses.
  const l = check("crossing", [box(), box(), box(), box()], [[0, 3], [1, 2]]);
  assert.strictEqual(Math.sign(l.x[0] - l.x[1]), Math.sign(l.x[3] - l.x[2]), "edges cross for no reason");
}
{
  // What sinks stands below all others, an edge to it from the top passes every row.
  const l = check("sinks", [box(), box(), box(), { ...box(), sinks: true }], [[0, 1], [1, 2], [0, 3]]);
  assert.deepStrictEqual([...l.rank], [0, 1, 2, 3]);
}
check("cycle", [box(), box(), box()], [[0, 1], [1, 2], [2, 0], [1, 1]]);
check("from later to earlier in the list", [box(), box(), box()], [[2, 1], [1, 0]]);
check("wide", Array.from({ length: 5001 }, () => box()), Array.from({ length: 5000 }, (_, i) => [0, i + 1]));
for (let i = 0; i < 200; i++) check(`random ${i}`, ...randomGraph(2 + random(60), 1 + random(10), true));
for (let i = 0; i < 20; i++) check(`few points ${i}`, ...randomGraph(200, 5, true), { points: 50 });

// The points are bounded, and what needs more are jumps.
{
  const [nodes, edges] = randomGraph(3000, 3, true), l = check("bounded", nodes, edges, { points: 2000 });
  assert(l.vx.length <= nodes.length + 2000 && l.jumps.length > 0);
}

// Large ones within seconds of processor time, which other processes on the machine hardly change.
for (const [name, count, reach, far] of [["large", 20000, 12, false], ["large, edges from anywhere", 20000, 12, true], ["chain", 100000, 1, false]]) {
  const l = check(name, ...randomGraph(count, reach, far));
  console.log(`${name}: ${count} nodes, ${l.drawn.length} edges and ${l.jumps.length} jumps in ${l.time} ms of processor time`);
  assert(l.time < 20000, `${name}: ${l.time} ms`);
}
console.log("passed");
