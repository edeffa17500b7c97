// The page's layout beside those of JavaScript's libraries (dagre, ELK's layered), on whole graphs without folding.
// usage: node layouts.js FOLDER_OF_SCRIPTS MODULES PAGE.html...     MODULES: a folder in which `npm install @dagrejs/dagre elkjs` ran;
// pages are saved by `assay view MODEL -o PAGE.html`. Prints a table: processor time, crossings of edges, length of edges, area.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");

const [scripts, modules, ...pages] = process.argv.slice(2);
const names = ["text", "kinds", "layout", "scopes", "items", "scene"];
const { Items, Scene, layoutGraph } = vm.runInNewContext(`${names.map((n) => fs.readFileSync(path.join(scripts, `${n}.js`), "utf8")).join("\n")}\n({ Items, Scene, layoutGraph });`, { Intl });
const dagre = require(path.resolve(modules, "node_modules/@dagrejs/dagre"));
const Elk = require(path.resolve(modules, "node_modules/elkjs/lib/elk.bundled.js"));
// Larger graphs take the libraries minutes.
const MOST_NODES = 3000;

function graphOf(file) {
  const payload = JSON.parse(fs.readFileSync(file, "utf8").match(/id="model">([^]*?)<\/script>/)[1]);
  const items = new Items(payload), leaves = [], index = new Map();
  items.roots[0].eachLeaf((l) => { index.set(l, leaves.length); leaves.push(l); });
  const nodes = leaves.map((l) => { Scene.measure(l); return { w: l.box.w, h: l.box.h, slides: l.node.kind === "input", floats: l.node.kind === "node" && l.sources.length === 0 }; });
  const edges = leaves.flatMap((l, to) => l.sources.map((s) => [index.get(s), to]));
  return { title: payload.model_info.title, nodes, edges };
}
// [[x, y], ...] of each edge, and the size of all.
function own({ nodes, edges }) {
  const l = layoutGraph(nodes, edges);
  const lines = edges.map(([a, b]) => {
    const line = [[l.x[a], l.y[a] + nodes[a].h]], points = l.rank[b] - l.rank[a] - 1;
    for (let k = 0; k < points && points <= l.trunkLength[a]; k++) { const r = l.ranks[l.rank[a] + k + 1]; line.push([l.vx[l.trunkStart[a] + k], r.top], [l.vx[l.trunkStart[a] + k], r.top + r.height]); }
    return [...line, [l.x[b], l.y[b]]];
  });
  return { lines, w: l.width, h: l.height };
}
function byDagre({ nodes, edges }) {
  const g = new dagre.graphlib.Graph({ multigraph: true }).setGraph({ nodesep: 22, ranksep: 38 }).setDefaultEdgeLabel(() => ({}));
  nodes.forEach((n, i) => g.setNode(String(i), { width: n.w, height: n.h }));
  edges.forEach(([a, b], i) => g.setEdge(String(a), String(b), {}, String(i)));
  dagre.layout(g);
  return { lines: g.edges().map((e) => g.edge(e).points.map((p) => [p.x, p.y])), w: g.graph().width, h: g.graph().height };
}
async function byElk({ nodes, edges }) {
  const l = await new Elk().layout({ id: "root", layoutOptions: { "elk.algorithm": "layered", "elk.direction": "DOWN", "elk.spacing.nodeNode": "22", "elk.layered.spacing.nodeNodeBetweenLayers": "38" },
    children: nodes.map((n, i) => ({ id: `n${i}`, width: n.w, height: n.h })), edges: edges.map(([a, b], i) => ({ id: `e${i}`, sources: [`n${a}`], targets: [`n${b}`] })) });
  return { lines: l.edges.map((e) => { const s = e.sections[0]; return [s.startPoint, ...(s.bendPoints ?? []), s.endPoint].map((p) => [p.x, p.y]); }), w: l.width, h: l.height };
}
// Pairs of edges without a common end that cross, by sweeping over the heights.
function crossings({ lines }, edges) {
  const segments = lines.flatMap((line, e) => line.slice(1).map((p, i) => ({ e, a: line[i], b: p, top: Math.min(line[i][1], p[1]), bottom: Math.max(line[i][1], p[1]) }))).sort((s, t) => s.top - t.top);
  const side = (p, q, r) => Math.sign((q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]));
  const found = new Set();
  for (let i = 0; i < segments.length; i++)
    for (let j = i + 1; j < segments.length && segments[j].top < segments[i].bottom; j++) {
      const s = segments[i], t = segments[j], [x, y] = [edges[s.e], edges[t.e]];
      if (s.e === t.e || x[0] === y[0] || x[1] === y[1]) continue;
      if (side(s.a, s.b, t.a) * side(s.a, s.b, t.b) < 0 && side(t.a, t.b, s.a) * side(t.a, t.b, s.b) < 0) found.add(`${Math.min(s.e, t.e)} ${Math.max(s.e, t.e)}`);
    }
  return found.size;
}
const length = ({ lines }) => lines.reduce((sum, line) => sum + line.slice(1).reduce((s, p, i) => s + Math.hypot(p[0] - line[i][0], p[1] - line[i][1]), 0), 0);

(async () => {
  console.log("| model | nodes | edges | layout | processor time | crossings | length of edges | area |\n|---|---:|---:|---|---:|---:|---:|---:|");
  for (const file of pages) {
    const graph = graphOf(file);
    for (const [name, make] of [["page's own", own], ["dagre", byDagre], ["ELK layered", byElk]]) {
      const head = `| ${path.basename(file, ".html")} | ${graph.nodes.length} | ${graph.edges.length} | ${name} |`;
      if (make !== own && graph.nodes.length > MOST_NODES) { console.log(`${head} not tried | | | |`); continue; }
      const begin = process.cpuUsage();
      let done;
      try { done = await make(graph); } catch (e) { console.log(`${head} ${e.message.slice(0, 60)} | | | |`); continue; }
      const used = process.cpuUsage(begin), time = (used.user + used.system) / 1e6;
      console.log(`${head} ${time.toPrecision(2)} s | ${graph.nodes.length > MOST_NODES ? "" : crossings(done, graph.edges)} | ${Math.round(length(done) / 1000)}k | ${Math.round((done.w * done.h) / 1e6)}M |`);
    }
  }
})();
