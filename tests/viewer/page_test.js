// Runs the scripts of saved pages on a stand-in for a browser's document: what is shown, found, selected and opened.
// usage: node page_test.js FOLDER     the folder holds what viewer_test.py saved
"use strict";
const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");

// As much of an element as the page uses. Text goes through textContent alone, so markup in names stays text.
class Element {
  constructor(tag) {
    Object.assign(this, { tag, children: [], listeners: {}, style: {}, value: "", hidden: false, className: "", scrollTop: 0, clientWidth: 1000, clientHeight: 700, own: "" });
  }
  get textContent() { return this.own + this.children.map((c) => (typeof c === "string" ? c : c.textContent)).join(" "); }
  set textContent(text) { this.own = text; this.children = []; }
  set innerHTML(_) { throw new Error("names must not become markup"); }
  append(...children) { this.children.push(...children); }
  replaceChildren(...children) { this.own = ""; this.children = children; }
  addEventListener(type, listener) { this.listeners[type] = listener; }
  setPointerCapture() {}
  select() {}
  all(tag) { return this.children.filter((c) => typeof c !== "string").flatMap((c) => [...(c.tag === tag ? [c] : []), ...c.all(tag)]); }
  button(text) {
    const found = this.all("button").find((b) => b.textContent.includes(text));
    assert(found, `no button with ${text} in: ${this.textContent}`);
    return found;
  }
}

function openPage(file, hash = "") {
  const html = fs.readFileSync(file, "utf8");
  const scripts = [...html.matchAll(/<script>([^]*?)<\/script>/g)].map((m) => m[1]);
  const data = html.match(/<script type="application\/json" id="model">([^]*?)<\/script>/)[1];
  assert.strictEqual(scripts.length, 2);
  const elements = new Map(), drawn = [], frames = [];
  const pen = new Proxy({}, { get: (target, name) => target[name] ?? ((...args) => { if (name === "fillText") drawn.push(args[0]); }), set: (target, name, value) => { target[name] = value; return true; } });
  const at = (id) => {
    if (!elements.has(id)) elements.set(id, new Element("div"));
    return elements.get(id);
  };
  at("model").textContent = data;
  at("canvas").getContext = () => pen;
  at("field").value = "any";
  const document = { getElementById: at, createElement: (tag) => new Element(tag), addEventListener() {}, documentElement: {} };
  const window = { addEventListener() {}, devicePixelRatio: 1 };
  vm.runInNewContext(scripts.join("\n"), {
    document, window, location: { hash }, history: { replaceState() {} }, matchMedia: () => ({ addEventListener() {} }),
    getComputedStyle: () => ({ getPropertyValue: () => "#000" }), ResizeObserver: class { observe() {} }, requestAnimationFrame: (f) => frames.push(f),
  });
  const draw = () => {
    drawn.length = 0;
    while (frames.length > 0) frames.shift()();
    return drawn;
  };
  const search = (words, field = "any") => {
    at("query").value = words;
    at("field").value = field;
    at("query").listeners.input();
    return at("hits").all("button").map((b) => b.textContent);
  };
  return { at, document, draw, search, details: () => at("details").textContent, key: at };
}

const folder = process.argv[2];

// Subgraphs, functions, previews.
{
  const page = openPage(path.join(folder, "nested.html"));
  assert(page.document.title.startsWith("Name: nested"), page.document.title);
  assert(page.draw().includes("If") && page.draw().length === 0, "the graph is drawn, and only when something changes");
  assert(page.details().includes("nodes 3"), page.details());
  assert.strictEqual(page.search("loopadd", "name").length, 1);
  assert.strictEqual(page.search("Neg", "op").length, 2, "one in either branch");
  assert.strictEqual(page.search("no such thing").length, 0);
  page.search("call", "name");
  page.at("hits").button("Fn").listeners.click();
  assert(page.details().includes("alpha 1.5"), page.details());
  page.at("details").button("function my::Fn").listeners.click();
  assert(page.draw().includes("Elu"), "the function's body is drawn");
  assert(page.details().startsWith("my::Fn"), page.details());
}
{
  const page = openPage(path.join(folder, "nested.html"), "#node_1");
  assert(page.details().startsWith("Loop"), page.details());
  page.at("details").button("body").listeners.click();
  assert(page.draw().includes("From outside"), "what a body takes from outside is there");
  assert(page.at("trail").textContent.includes("loop: body"), page.at("trail").textContent);
  page.search("loopadd");
  page.at("hits").button("Add").listeners.click();
  assert(page.details().includes("outer"), page.details());
  page.at("details").button("outside").listeners.click();
  page.at("details").button("where it comes from").listeners.click();
  assert(page.details().startsWith("Loop"), `the owner of what uses an initializer of the main graph, and not: ${page.details()}`);
}
// The mouse: clicks find the nodes, a double click opens, dragging selects nothing and the wheel zooms.
{
  const page = openPage(path.join(folder, "nested.html")), canvas = page.at("canvas").listeners, found = new Map();
  page.at("fit").listeners.click();
  const click = (x, y) => {
    canvas.pointerdown({ offsetX: x, offsetY: y, pointerId: 1 });
    canvas.pointerup({ offsetX: x, offsetY: y });
    return page.details().split(" ")[0];
  };
  for (let y = 0; y < 700; y += 6) for (let x = 0; x < 1000; x += 12) if (!found.has(click(x, y))) found.set(page.details().split(" ")[0], [x, y]);
  for (const name of ["Fn", "Loop", "If", "Graph", "nested"]) assert(found.has(name), `${name} is not found by clicks, but ${[...found.keys()]}`);
  const [x, y] = found.get("Loop");
  assert.strictEqual(click(x, y), "Loop");
  canvas.pointerdown({ offsetX: 1, offsetY: 1, pointerId: 1 });
  canvas.pointermove({ offsetX: 101, offsetY: 51 });
  canvas.pointerup({ offsetX: 101, offsetY: 51 });
  assert.strictEqual(page.details().split(" ")[0], "Loop", "dragging leaves the selection");
  assert.strictEqual(click(x + 100, y + 50), "Loop", "the graph has moved along");
  canvas.wheel({ offsetX: x + 100, offsetY: y + 50, deltaX: 0, deltaY: -300, deltaMode: 0, ctrlKey: true, preventDefault() {} });
  assert.strictEqual(click(x + 100, y + 50), "Loop", "zooming keeps what is under the pointer");
  canvas.dblclick({ offsetX: x + 100, offsetY: y + 50 });
  assert(page.details().startsWith("loop: body"), page.details());
}
// Names that are markup, prototypes and bytes that are no text.
{
  const page = openPage(path.join(folder, "hostile.html"), "#node_0");
  assert(page.details().includes("</script><script>alert(1)</script>"), page.details());
  assert(page.details().includes("__proto__"), page.details());
  assert(page.draw().some((t) => t.includes("<script>")), "markup is drawn as text");
  for (const words of ["alert", "__proto__", "hasOwnProperty"]) assert(page.search(words).length > 0, words);
  page.at("details").button("↓").listeners.click();
  assert(page.details().startsWith("Neg"), page.details());
}
// Not all of a large graph is drawn.
{
  const begin = Date.now(), page = openPage(path.join(folder, "large.html")), texts = page.draw().length;
  assert(texts > 5 && texts < 500, `${texts} texts are drawn of 20,000 nodes`);
  assert.strictEqual(page.search("Relu").length, 200, "hits are limited");
  assert(page.at("found").textContent.startsWith("20000 nodes"), page.at("found").textContent);
  console.log(`20,000 nodes are ready after ${Date.now() - begin} ms`);
  page.at("fit").listeners.click();
  page.draw();
}
// A plan's layers.
{
  const page = openPage(path.join(folder, "nested_plan.html"), "#p0_node_0");
  assert(page.details().includes("tactic") && page.details().includes("origin"), page.details());
}
console.log("passed");
