// The language in which options name tensors and nodes (docs/reference/selectors.md), on the page's data.
"use strict";

const Selector = (() => {
  const hasGlob = (text) => /[*?[]/.test(text);

  // A glob as an expression for whole names: * ? [a-c] [!a-c].
  function globExpression(glob) {
    let out = "";
    for (let i = 0; i < glob.length; i++) {
      const c = glob[i];
      if (c === "*") out += "[^]*";
      else if (c === "?") out += "[^]";
      else if (c === "[" && glob.indexOf("]", i + 2) > 0) {
        const end = glob.indexOf("]", i + 2), inner = glob.slice(i + 1, end).replace(/[\\\]^]/g, "\\$&");
        out += inner.startsWith("!") ? `[^${inner.slice(1)}]` : `[${inner}]`;
        i = end;
      } else out += c.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
    }
    return new RegExp(`^(?:${out.replace(/(\[\^\]\*)+/g, "[^]*")})$`);
  }

  // A test of names, or of operators: {ofName, ofNode}. Throws SyntaxError for an expression that is none.
  function plain(text) {
    if (text.startsWith("re:")) {
      const flags = /^\(\?([ims]+)\)/.exec(text.slice(3)), source = text.slice(3 + (flags ? flags[0].length : 0));
      const expression = new RegExp(`^(?:${source})$`, flags ? flags[1] : "");
      return { ofName: (name) => expression.test(name), ofNode: () => false };
    }
    if (text.startsWith("op:")) {
      const op = text.slice(3);
      return { ofName: () => false, ofNode: (n) => n.kind === "node" && (n.op_type === op || `${n.domain ?? "ai.onnx"}.${n.op_type}` === op) };
    }
    if (hasGlob(text)) {
      const expression = globExpression(text);
      return { ofName: (name) => expression.test(name), ofNode: () => false };
    }
    return { ofName: (name) => name === text, ofNode: () => false };
  }

  // The names by which a path leads to each node inside another: `loop` and `loop::body`, from the outermost on.
  function paths(items) {
    const owner = new Map();
    for (const [id, n] of items.nodes) for (const [attribute, body] of Object.entries(n.subgraphs)) for (const inner of body.all_node_ids) owner.set(inner, [id, attribute]);
    const functions = new Map();
    items.payload.graphs.forEach((g, i) => {
      if (i === 0 || items.payload.model_info.model_type !== "onnx") return;
      const full = g.title.replace("::", "."), name = full.slice(full.lastIndexOf(".") + 1);
      for (const id of g.nodes) functions.set(id, [`function:${full}`, `function:${name}`, `function:${name.split(":")[0]}`]);
    });
    const known = new Map();
    const of = (id) => {
      if (known.has(id)) return known.get(id);
      const up = owner.get(id);
      let list = functions.get(id) ?? [""];
      if (up !== undefined) {
        const n = items.nodes.get(up[0]), name = n.name || n.outputs[0]?.name || "";
        list = of(up[0]).flatMap((p) => [`${p}${p && "::"}${name}`, `${p}${p && "::"}${name}::${up[1]}`]);
      }
      known.set(id, list);
      return list;
    };
    return of;
  }

  // A test of nodes (id, node). The longest path that exists is taken as such; names may hold `::` themselves.
  function compile(text, items) {
    const of = paths(items);
    let at = text.startsWith("re:") ? -1 : text.lastIndexOf("::");
    const inner = text.indexOf("::re:");
    if (inner >= 0) at = inner;
    let path = null;
    while (at > 0) {
      const candidate = text.slice(0, at);
      let exists = false;
      for (const id of items.nodes.keys()) if (of(id).includes(candidate)) { exists = true; break; }
      if (exists) { path = candidate; break; }
      at = text.lastIndexOf("::", at - 1);
    }
    const test = plain(path === null ? text : text.slice(at + 2));
    return (id, n) => {
      if (path === null ? false : !of(id).includes(path)) return false;
      // An output of a graph is the tensor of a node that is found already.
      if (n.kind === "output") return false;
      return test.ofNode(n) || test.ofName(n.name) || n.outputs.some((v) => v.name && test.ofName(Text.plainName(v)));
    };
  }
  // Whether a text is meant as a selector rather than as words.
  const isSelector = (text) => /^(re|op|function):/.test(text) || text.includes("::") || hasGlob(text);

  return { compile, isSelector, globExpression, plain };
})();

if (typeof module !== "undefined") module.exports = { Selector };
