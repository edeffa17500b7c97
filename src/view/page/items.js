// The model as a tree of items: graphs, the scopes and blocks that Scopes finds in them, nodes, and what is inside nodes.
"use strict";

// An item that can be opened has `children`; those of a node (the bodies of If and Loop, a function that it calls) are made
// when it is first opened. A leaf is an item with a `node` of the payload: `sources` are the leaves that compute what it
// takes, `targets` the leaves that take what it computes. A frame is one graph with the names of its values; that of a body
// has a parent, whose names it sees.
class Frame {
  constructor(parent, owner) {
    this.parent = parent;
    this.owner = owner;
    this.made = new Map();
  }
  find(name) {
    for (let f = this; f; f = f.parent) {
      const leaf = f.made.get(name);
      if (leaf !== undefined) return leaf;
    }
    return undefined;
  }
}

class Item {
  constructor(kind, title, node = null, frame = null) {
    Object.assign(this, { kind, title, node, frame, parent: null, children: null, isOpen: false, count: node && node.kind === "node" ? 1 : 0, sources: [], targets: [], stamp: 0, top: 0, box: null, scene: null });
  }
  adopt(children) {
    this.children = children;
    this.count = 0;
    for (const c of children) {
      c.parent = this;
      this.count += c.count;
    }
    return this;
  }
  get canOpen() { return this.children !== null || (this.node !== null && Items.insides(this.node) > 0); }
  // Calls visit(leaf) for this item, if it is one, and for all leaves below it, children from first to last.
  eachLeaf(visit) {
    const pending = [this];
    while (pending.length > 0) {
      const item = pending.pop();
      if (item.node !== null) visit(item);
      if (item.children !== null) for (let i = item.children.length - 1; i >= 0; i--) pending.push(item.children[i]);
    }
  }
  // From the root down to this item.
  path() {
    const list = [];
    for (let i = this; i; i = i.parent) list.unshift(i);
    return list;
  }
  isWithin(item) {
    for (let i = this; i; i = i.parent) if (i === item) return true;
    return false;
  }
}

class Items {
  static insides(node) { return Object.keys(node.subgraphs).length + (node.calls === undefined ? 0 : 1); }

  // `index`: which model of a page with two.
  constructor(payload) {
    this.payload = payload;
    this.nodes = new Map(Object.entries(payload.nodes));
    this.leafOf = new Map();
    this.captured = new Map();
    this.byName = null;
    this.roots = payload.graphs.map((g) => {
      const frame = new Frame(null, null);
      return new Item("graph", g.title).adopt(this.grow(g.nodes, frame, true));
    });
    for (const r of this.roots) this.link(r);
    for (const r of this.roots) r.isOpen = true;
  }

  // Items for the nodes of one graph, in scopes and blocks.
  grow(ids, frame, isOwn) {
    const leaves = [];
    for (const id of ids) {
      const node = this.nodes.get(id);
      if (node === undefined) continue;
      const leaf = new Item("node", node.name || node.op_type, node, frame);
      leaves.push(leaf);
      if (isOwn) this.leafOf.set(id, leaf);
      if (node.kind !== "output") for (const v of node.outputs) if (v.name) frame.made.set(v.name, leaf);
    }
    return Scopes.group(leaves);
  }

  // Connects the leaves below an item with what they take.
  link(top) {
    top.eachLeaf((leaf) => {
      if (leaf === top) return;
      const found = new Set();
      const take = (name, frame) => {
        const p = frame === null ? undefined : frame.find(name);
        if (p !== undefined && p !== leaf) found.add(p);
      };
      const owner = leaf.frame.owner;
      if (leaf.node.kind === "input" && owner !== null) {
        const argument = owner.node.inputs[Number(leaf.node.node_id.slice(leaf.node.node_id.lastIndexOf("_") + 1))];
        if (argument !== undefined && argument.name && !Text.isConstant(argument)) take(argument.name, owner.frame);
      }
      for (const v of leaf.node.inputs) if (v.name && !Text.isConstant(v)) take(v.name, leaf.frame);
      for (const name of this.captures(leaf.node)) take(name, leaf.frame);
      leaf.sources = [...found];
      for (const p of leaf.sources) p.targets.push(leaf);
    });
  }

  // The names that the bodies of a node use and do not define.
  captures(node) {
    const bodies = Object.values(node.subgraphs);
    if (bodies.length === 0) return [];
    const known = this.captured.get(node.node_id);
    if (known !== undefined) return known;
    const used = new Set();
    for (const body of bodies) {
      const made = new Set(), here = new Set();
      for (const id of body.all_node_ids) {
        const n = this.nodes.get(id);
        for (const v of n.inputs) if (v.name && !Text.isConstant(v)) here.add(v.name);
        for (const name of this.captures(n)) here.add(name);
        if (n.kind !== "output") for (const v of n.outputs) made.add(v.name);
      }
      for (const name of here) if (!made.has(name)) used.add(name);
    }
    const list = [...used];
    this.captured.set(node.node_id, list);
    return list;
  }

  // Makes the items inside a node. True when there are some.
  fill(item) {
    if (item.children !== null) return true;
    const node = item.node;
    if (node === null || Items.insides(node) === 0) return false;
    const inner = Object.entries(node.subgraphs).map(([name, body]) => this.inside(item, name, body.all_node_ids, item.frame, item.frame.isCall !== true));
    if (node.calls !== undefined) {
      const called = this.payload.graphs[node.calls];
      inner.push(this.inside(item, called.title, called.nodes, null, false));
    }
    const own = item.count;
    item.adopt(inner.length === 1 ? inner[0].children : inner);
    for (const i of inner) i.isOpen = true;
    item.count = own;
    this.link(item);
    return true;
  }
  inside(item, title, ids, parent, isOwn) {
    const frame = new Frame(parent, item);
    if (!isOwn) frame.isCall = true;
    return new Item("body", title).adopt(this.grow(ids, frame, isOwn));
  }

  // The leaf of a node, wherever it is: bodies on the way are filled.
  leaf(id) {
    const known = this.leafOf.get(id);
    if (known !== undefined || !this.nodes.has(id)) return known;
    const owner = this.owners().get(id);
    const outer = owner === undefined ? undefined : this.leaf(owner);
    if (outer === undefined) return undefined;
    this.fill(outer);
    return this.leafOf.get(id);
  }
  owners() {
    if (this.ownerOf === undefined) {
      this.ownerOf = new Map();
      for (const [id, n] of this.nodes) for (const body of Object.values(n.subgraphs)) for (const inner of body.all_node_ids) this.ownerOf.set(inner, id);
    }
    return this.ownerOf;
  }

  // Ids by what a report or a profile calls them: a node's name, the name of a tensor that it computes, or its id.
  idOf(name) {
    if (this.byName === null) {
      this.byName = new Map();
      const add = (key, id) => { if (key && !this.byName.has(key)) this.byName.set(key, id); };
      for (const [id, n] of this.nodes) if (n.kind === "node") add(n.name, id);
      for (const [id, n] of this.nodes) if (n.kind !== "output") for (const v of n.outputs) add(v.name, id);
      for (const [id, n] of this.nodes) if (n.kind === "node" && n.origin) for (const o of n.origin.split(", ")) add(o, id);
    }
    return this.nodes.has(name) ? name : this.byName.get(name);
  }
}

if (typeof module !== "undefined") module.exports = { Frame, Item, Items };
