// The page's modules without a browser: scopes and blocks, searches and selectors, colours, SVG.
// usage: node modules_test.js FOLDER OF THE PAGE'S SCRIPTS
"use strict";
const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");

// As the page has them: one script.
const names = ["text", "kinds", "layout", "scopes", "items", "scene", "svg_pen", "selector", "search", "metrics", "report", "compare"];
const source = names.map((n) => fs.readFileSync(path.join(process.argv[2], `${n}.js`), "utf8")).join("\n");
const page = vm.runInNewContext(`${source}\n({ Text, Kinds, Scopes, Item, Items, Scene, SvgPen, Selector, Search, Metric, Metrics, Report, Matching });`, { Intl });
const { Text, Scopes, Items, Scene, SvgPen, Selector, Search, Metric, Report, Matching } = page;

const value = (name, dtype = "float32", shape = ["1", "2"]) => ({ name, dtype, shape, docstring: null, weight_preview: null });
function node(id, op, inputs, outputs, name = id, more = {}) {
  return { kind: "node", node_id: id, name, op_type: op, inputs: inputs.map((n) => value(n)), outputs: outputs.map((n) => value(n)), attrs: [], subgraphs: {}, origin: null, tactic: null, ...more };
}
const input = (id, name) => ({ ...node(id, "Graph Input", [], [name], name), kind: "input" });
const output = (id, name) => ({ ...node(id, "Graph Output", [name], [], name), kind: "output" });
function payload(nodes, more = {}) {
  const graphs = [{ title: "g", nodes: nodes.filter((n) => !n.node_id.includes("__")).map((n) => n.node_id) }];
  return { model_path: "m", model_info: { title: "g", model_type: "onnx", num_nodes: nodes.length }, nodes: Object.fromEntries(nodes.map((n) => [n.node_id, n])), graphs, ...more };
}
const plain = (x) => JSON.parse(JSON.stringify(x));
const all = (item) => { const list = []; item.eachLeaf((l) => list.push(l.node.node_id)); return list; };

// Scopes: a/b/c become groups, a scope with one member is that member, and every node is somewhere once.
{
  const items = new Items(payload([input("input_0", "x"), node("node_0", "Conv", ["x"], ["a"], "/stem/conv/Conv"), node("node_1", "Relu", ["a"], ["b"], "/stem/act/Relu"),
    node("node_2", "Conv", ["b"], ["c"], "/head/Conv"), output("output_0", "c")]));
  const root = items.roots[0];
  assert.deepStrictEqual(plain(root.children.map((c) => [c.kind, c.title, c.count])), [["node", "x", 0], ["scope", "stem", 2], ["node", "/head/Conv", 1], ["node", "c", 0]]);
  assert.deepStrictEqual(plain(all(root)).sort(), ["input_0", "node_0", "node_1", "node_2", "output_0"]);
  Scene.measure(root);
  const l = root.scene.layout;
  assert(l.y[0] < l.y[1] && l.y[1] < l.y[2] && l.y[2] < l.y[3], "the flow goes down through the group");
}
// Blocks that repeat are found without names, and long chains become stretches; nothing is lost.
function chain(ops, count, name = () => "") {
  const nodes = [input("input_0", "t0")];
  for (let i = 0; i < count; i++) nodes.push(node(`node_${i}`, ops[i % ops.length], [`t${i}`], [`t${i + 1}`], name(i)));
  nodes.push(output("output_0", `t${count}`));
  return new Items(payload(nodes));
}
{
  const root = chain(["LayerNormalization", "MatMul", "Softmax", "MatMul", "Add", "Gelu"], 120).roots[0];
  const blocks = root.children.filter((c) => c.kind === "block");
  assert.strictEqual(blocks.length, 20);
  assert(blocks.every((b) => b.count === 6));
  assert.strictEqual(all(root).length, 122);
  for (const count of [1, 41, 400, 20000]) {
    const long = chain(["Relu"], count).roots[0];
    assert.strictEqual(all(long).length, count + 2);
    const most = (item) => Math.max(item.children.length, ...item.children.filter((c) => c.children !== null).map(most));
    assert(most(long) <= 93, `${count}: a list of ${most(long)}`);
  }
  assert.deepStrictEqual(plain(Scopes.repeats([1, 2, 3, 4, 5, 6, 7, 8, 9])), []);
}
// Groups that names make and that the flow crosses twice: their edges go both ways, and are drawn or marked.
{
  const items = new Items(payload([input("input_0", "x"), node("node_0", "A", ["x"], ["a"], "p/1"), node("node_1", "B", ["a"], ["b"], "q/1"), node("node_2", "A", ["b"], ["c"], "p/2"), node("node_3", "B", ["c"], ["d"], "q/2"), output("output_0", "d")]));
  Scene.measure(items.roots[0]);
  assert.strictEqual(items.roots[0].scene.layout.jumps.length, 1);
}
// Bodies: what they take from outside, and arguments; a function at two calls is two bodies.
{
  const body = [{ ...input("node_1__sg_body__input_0", "i") }, node("node_1__sg_body__node_0", "Add", ["i", "x"], ["s"], "inner"), { ...output("node_1__sg_body__output_0", "s") }];
  const loop = node("node_1", "Loop", ["a"], ["b"], "loop", { subgraphs: { body: { all_node_ids: body.map((n) => n.node_id) } } });
  const items = new Items(payload([input("input_0", "x"), node("node_0", "Relu", ["x"], ["a"]), loop, ...body, output("output_0", "b")]));
  const leaf = items.leafOf.get("node_1");
  assert.deepStrictEqual(plain(leaf.sources.map((s) => s.node.node_id)).sort(), ["input_0", "node_0"], "the loop takes x from outside");
  const inner = items.leaf("node_1__sg_body__node_0");
  assert.deepStrictEqual(plain(inner.sources.map((s) => s.node.node_id)).sort(), ["input_0", "node_1__sg_body__input_0"]);
  assert.deepStrictEqual(plain(items.leaf("node_1__sg_body__input_0").sources.map((s) => s.node.node_id)), ["node_0"], "the argument");
  leaf.isOpen = true;
  Scene.measure(items.roots[0]);
  assert(leaf.scene.inX.size === 2 && leaf.scene.outX.size === 1, "ports for what comes in and goes out");
  assert(leaf.box.h > leaf.scene.layout.height);

  const find = (text) => plain(Search.find(items, text, "any"));
  assert.deepStrictEqual(find("op:Add"), ["node_1__sg_body__node_0"]);
  assert.deepStrictEqual(find("op:Ad"), []);
  assert.deepStrictEqual(find("loop::op:Add"), ["node_1__sg_body__node_0"]);
  assert.deepStrictEqual(find("loop::body::s"), ["node_1__sg_body__node_0"]);
  assert.deepStrictEqual(find("node_[0-1]"), ["node_0"], "a glob means whole names");
  assert.deepStrictEqual(find("re:node_.|in.*"), ["node_0", "node_1__sg_body__node_0"]);
  assert.deepStrictEqual(find("re:(?i)LOOP"), ["node_1"]);
  assert.throws(() => find("re:("), (e) => e.name === "SyntaxError");
  assert.deepStrictEqual(find("LOO"), ["node_1"], "words are parts of names, in any case");
  assert(Selector.globExpression("a[!b-d]?*").test("axyz") && !Selector.globExpression("a[!b-d]?").test("acx"));
  assert(Selector.globExpression(`${"*".repeat(40)}b`).test("a".repeat(30) + "b"), "many stars are one");
}
// Colours: sums and maxima of groups, words from good to bad, layers that stand for several nodes.
{
  const items = new Items(payload([node("node_0", "Conv", ["x"], ["a"], "s/conv"), node("node_1", "Relu", ["a"], ["b"], "s/relu"), node("node_2", "Add", ["b"], ["c"], "add")], { costs: { node_0: [100, 8, 4], node_1: [0, 0, 4], node_2: [null, 0, 4] } }));
  const group = items.roots[0].children.find((c) => c.kind === "scope");
  const make = (m) => new Metric(items, m);
  const time = make({ key: "t", title: "t", unit: "ms", values: [["s/conv + s/relu", 6], ["add", 2], ["nobody", 1]] });
  assert.strictEqual(time.of(group), 6);
  assert.strictEqual(time.of(items.roots[0]), 8);
  assert.deepStrictEqual(plain(time.unmatched), ["nobody"]);
  const error = make({ key: "e", title: "e", combine: "max", values: [["a", 1e-7], ["b", 3e-3], ["c", "NaN"]] });
  assert.strictEqual(error.of(group), 3e-3);
  assert(Number.isNaN(error.of(items.roots[0])), "NaN is not hidden in a sum");
  assert.strictEqual(error.colorOf(NaN), Metric.WORST);
  const verdict = make({ key: "v", title: "v", kind: "word", words: ["agrees", "unclear", "WRONG"], values: [["a", "agrees"], ["b", "WRONG"]] });
  assert.strictEqual(verdict.of(group), "WRONG");
  assert.notStrictEqual(verdict.colorOf("agrees"), verdict.colorOf("WRONG"));
  const macs = page.Metrics.all(items, null).find((m) => m.key === "macs");
  assert.strictEqual(macs.of(items.roots[0]), 100);
  assert(error.isLogarithmic && !time.isLogarithmic);

  const other = new Items(payload([node("node_0", "Conv", ["x"], ["a"], "other")]));
  const matching = new Matching(items, other, { pairs: [["s/conv", "node_0"], ["gone", "node_0"]], changed: [["s/conv", "weights differ"]] });
  assert.deepStrictEqual(plain(matching.of(0, "node_0")), ["node_0"]);
  assert.strictEqual(make(matching.metric(0, items)).of(items.leafOf.get("node_0")), "changed");
  assert.strictEqual(make(matching.metric(0, items)).of(items.leafOf.get("node_2")), "only here");
}
// Names that are prototypes, markup, control characters, and a megabyte.
{
  const wild = ["__proto__", "constructor", "</script><img src=x>", "\u202ereversed\u0000", "n".repeat(1 << 20)];
  const nodes = wild.map((w, i) => node(`node_${i}`, w, [i ? wild[i - 1] : "x"], [w], w));
  const items = new Items(payload(nodes));
  Scene.measure(items.roots[0]);
  for (const w of wild) assert.strictEqual(items.idOf(w), `node_${wild.indexOf(w)}`);
  assert(!/[\u0000\u202e]/.test(Text.oneLine(wild[3])));
  const pen = new SvgPen(10, 10, "#fff");
  for (const w of wild) pen.fillText(Text.cut(w, 50), 0, 0, 5);
  pen.fillText("\ud800\u0001<&>\"", 0, 0);
  const svg = pen.document(0, 0);
  assert(!svg.includes("<img") && !/[\u0000-\u0008\ud800]/.test(svg));
  assert(items.roots[0].children.every((c) => c.box.w <= 230));
}
// Tables: numbers before words, NaN as the largest.
{
  const sorted = plain([3, "NaN", 1, null, "Infinity", 2].sort((a, b) => Report.compare(a, b)));
  assert.deepStrictEqual(sorted.slice(0, 4), [null, 1, 2, 3]);
}
assert.strictEqual(Text.short(627200), "627k");
assert.strictEqual(Text.short(3200 * 4, "B"), "12.5 KiB");
assert.strictEqual(Text.short(0.00012345, "ms"), "1.23e-4 ms");
console.log("passed");
