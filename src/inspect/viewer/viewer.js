// The page: the graph on a canvas, the search, and what is known of a node.
"use strict";

(() => {
  const payload = JSON.parse(document.getElementById("model").textContent);
  const nodeOf = new Map(Object.entries(payload.nodes));
  const at = (id) => document.getElementById(id);
  const CONSTANT = "Initializer | ";
  const LINE = 15, HEAD = 21, MOST_HITS = 200, MOST_LINES = 4, MOST_WIDTH = 230;

  // Colours by what operators do: the first that fits.
  const KINDS = [
    ["input", "#2f9e44", null], ["output", "#c2255c", null], ["from outside", "#868e96", null],
    ["control flow, functions", "#9c36b5", /^(If|Loop|Scan|SequenceMap)$/],
    ["convolution, matrix product", "#1971c2", /conv|gemm|gemv|matmul|einsum|linear/i],
    ["normalization", "#6741d9", /norm/i],
    ["attention, recurrence", "#a61e4d", /attention|rotary|lstm|gru|rnn/i],
    ["activation", "#e8590c", /relu|sigmoid|tanh|gelu|softmax|elu$|swish|mish|softplus|softsign|erf|silu|shrink/i],
    ["pooling, reduction", "#0c8599", /pool|reduce|argm|topk|cumsum|^mean$|^sum$/i],
    ["quantization, types", "#5f3dc4", /quantize|^cast|reorder/i],
    ["shape, movement", "#846358", /shape|transpose|concat|split|slice|gather|scatter|squeeze|flatten|expand|tile|pad|resize|upsample|depthto|spaceto|identity|where|range|nonzero|onehot|compress|trilu|copy/i],
    ["constant", "#868e96", /constant/i],
    ["arithmetic, logic", "#2b8a3e", /^(add|sub|mul|div|pow|sqrt|exp|log|neg|abs|min|max|mod|clip|round|floor|ceil|sign|reciprocal|and|or|xor|not|equal|less|greater|isnan|isinf|sin|cos|eltwise|elementwise|pointwise)/i],
    ["other", "#495057", /./],
  ];
  function kindOf(node) {
    if (node.kind === "input") return 0;
    if (node.kind === "output") return 1;
    if (node.kind === "outside") return 2;
    if (node.calls !== undefined || Object.keys(node.subgraphs).length > 0) return 3;
    return KINDS.findIndex(([, , pattern]) => pattern && pattern.test(node.op_type));
  }

  const isConstant = (value) => value.name.startsWith(CONSTANT);
  const cut = (text, most) => (text.length > most ? text.slice(0, most - 1) + "…" : text);
  const cutFront = (text, most) => (text.length > most ? "…" + text.slice(text.length - most + 1) : text);
  const oneLine = (text) => text.replace(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]+/g, " ");
  const extents = (shape) => (shape === null ? "?" : shape.length === 0 ? "scalar" : shape.map((d) => (d === "-1" ? "?" : d)).join("×"));
  const typeText = (v) => [v.dtype, v.shape === null ? (v.dtype && !v.dtype.includes("(") ? "unknown rank" : null) : extents(v.shape)].filter(Boolean).join(" ");

  // What is written on a node.
  function linesOf(node) {
    if (node.kind !== "node") return [oneLine(node.name), ...[...node.inputs, ...node.outputs].slice(0, 1).map(typeText)].filter(Boolean);
    const lines = node.name ? [oneLine(node.name)] : [];
    for (const v of node.inputs) if (isConstant(v) && lines.length < MOST_LINES) lines.push(`${cutFront(oneLine(v.name.slice(CONSTANT.length)), 18)} ${extents(v.shape)}`);
    for (const a of node.attrs) if (lines.length < MOST_LINES) lines.push(`${a.key}: ${oneLine(a.val)}`);
    for (const [name, body] of Object.entries(node.subgraphs)) lines.push(`▸ ${name} (${body.all_node_ids.length})`);
    if (node.calls !== undefined) lines.push("▸ function");
    return lines.map((l) => cut(l, 36));
  }

  // Graphs that can be shown: of the payload's list, and in nodes. key -> {key, title, ids, parent, owner}
  const views = new Map(), viewOf = new Map();
  function addView(key, title, ids, parent, owner) {
    const pending = [{ key, title, ids, parent, owner }];
    while (pending.length > 0) {
      const view = pending.pop();
      views.set(view.key, view);
      for (const id of view.ids) {
        viewOf.set(id, view.key);
        for (const [name, body] of Object.entries(nodeOf.get(id).subgraphs))
          pending.push({ key: `${id}/${name}`, title: `${nodeOf.get(id).name || nodeOf.get(id).op_type}: ${name}`, ids: body.all_node_ids, parent: view.key, owner: id });
      }
    }
  }
  payload.graphs.forEach((g, i) => addView(`graph ${i}`, g.title, g.nodes, null, null));

  // Nodes, edges and places of a view, when it is first shown.
  function prepare(view) {
    if (view.layout) return view;
    view.nodes = view.ids.map((id) => nodeOf.get(id));
    const index = new Map();
    view.producer = new Map();
    view.consumers = new Map();
    view.nodes.forEach((n, i) => {
      index.set(n.node_id, i);
      if (n.kind !== "output") for (const v of n.outputs) if (v.name) view.producer.set(v.name, i);
    });
    const edges = [];
    const outside = new Map();
    const count = view.nodes.length;
    for (let i = 0; i < count; i++) {
      const seen = new Set();
      for (const v of view.nodes[i].inputs) {
        if (!v.name || isConstant(v)) continue;
        let p = view.producer.get(v.name);
        if (p === undefined && view.parent !== null && view.nodes[i].kind === "node") {
          p = view.nodes.length;
          const node = { kind: "outside", node_id: `${view.key} ${v.name}`, name: v.name, op_type: "From outside", inputs: [], outputs: [v], attrs: [], subgraphs: {}, origin: null, tactic: null };
          outside.set(v.name, p);
          view.producer.set(v.name, p);
          view.nodes.push(node);
          index.set(node.node_id, p);
        }
        if (p === undefined) continue;
        if (!view.consumers.has(v.name)) view.consumers.set(v.name, []);
        view.consumers.get(v.name).push(i);
        if (!seen.has(p)) edges.push([p, i]);
        seen.add(p);
      }
    }
    view.index = index;
    const boxes = view.nodes.map((n) => {
      const lines = linesOf(n), title = n.kind === "node" ? n.op_type : { input: "Input", output: "Output", outside: "From outside" }[n.kind];
      const longest = Math.max(title.length * 7.4, ...lines.map((l) => cut(l, 36).length * 6.3));
      return { w: Math.min(MOST_WIDTH, Math.max(60, longest + 16)), h: HEAD + LINE * lines.length + (lines.length ? 5 : 0), lines, title,
               color: KINDS[kindOf(n)][1], slides: n.kind === "input", floats: (n.kind === "node" && n.inputs.every((v) => !v.name || isConstant(v))) || n.kind === "outside" };
    });
    view.boxes = boxes;
    view.layout = layoutGraph(boxes, edges);
    view.jumpsOf = new Map();
    for (const [a, b] of view.layout.jumps) for (const [i, other] of [[a, b], [b, a]]) {
      if (!view.jumpsOf.has(i)) view.jumpsOf.set(i, []);
      view.jumpsOf.get(i).push(other);
    }
    // Points to their node; places in the drawing, in each rank.
    const l = view.layout;
    view.ownerOf = new Int32Array(l.vx.length);
    boxes.forEach((_, i) => {
      view.ownerOf[i] = i;
      view.ownerOf.fill(i, l.trunkStart[i], l.trunkStart[i] + l.trunkLength[i]);
    });
    view.rankNodes = l.ranks.map((r) => r.order.filter((v) => v < boxes.length));
    return view;
  }

  // The drawing.
  const canvas = at("canvas"), pen = canvas.getContext("2d");
  let view = null, selected = -1, near = new Set(), camera = { x: 0, y: 0, scale: 1 }, isDue = false, ink = {};

  const toScreen = (x, y) => [(x - camera.x) * camera.scale + canvas.clientWidth / 2, (y - camera.y) * camera.scale + canvas.clientHeight / 2];
  const toGraph = (x, y) => [(x - canvas.clientWidth / 2) / camera.scale + camera.x, (y - canvas.clientHeight / 2) / camera.scale + camera.y];

  // The ranks between two heights, one more on either side.
  function visibleRanks(top, bottom) {
    const ranks = view.layout.ranks;
    const firstBelow = (y) => {
      let low = 0, high = ranks.length;
      while (low < high) { const m = (low + high) >> 1; if (ranks[m].top > y) high = m; else low = m + 1; }
      return low;
    };
    return [Math.max(0, firstBelow(top) - 2), Math.min(ranks.length, firstBelow(bottom) + 1)];
  }
  // Where in a rank's nodes the first stands that reaches beyond x.
  function firstBeyond(list, x) {
    let low = 0, high = list.length;
    while (low < high) { const m = (low + high) >> 1; if (view.layout.vx[list[m]] + view.boxes[list[m]].w / 2 >= x) high = m; else low = m + 1; }
    return low;
  }

  function drawSegments(first, last, left, right) {
    const l = view.layout, count = view.boxes.length, marked = [];
    const course = (s, r) => {
      const a = l.segments.from[s], b = l.segments.to[s], rank = l.ranks[r];
      const y0 = a < count ? rank.top + view.boxes[a].h : rank.top, x0 = l.vx[a], x1 = l.vx[b], y1 = l.ranks[r + 1].top;
      if (Math.max(x0, x1) < left || Math.min(x0, x1) > right) return;
      pen.moveTo(x0, y0);
      const bottom = rank.top + rank.height;
      if (y0 < bottom) pen.lineTo(x0, bottom);
      const middle = (bottom + y1) / 2;
      if (camera.scale > 0.25) pen.bezierCurveTo(x0, middle, x1, middle, x1, y1);
      else pen.lineTo(x1, y1);
    };
    const isMarked = (s) => selected >= 0 && (view.ownerOf[l.segments.from[s]] === selected || l.segments.to[s] === selected || near.has(l.segments.to[s]));
    pen.strokeStyle = ink.edge;
    pen.lineWidth = Math.max(1.1, 0.6 / camera.scale);
    pen.beginPath();
    for (let r = first; r < Math.min(last, l.ranks.length - 1); r++)
      for (let s = l.segments.start[r]; s < l.segments.start[r + 1]; s++)
        if (isMarked(s)) marked.push([s, r]);
        else course(s, r);
    pen.stroke();
    pen.strokeStyle = ink.mark;
    pen.lineWidth *= 1.8;
    pen.beginPath();
    for (const [s, r] of marked) course(s, r);
    pen.stroke();
  }

  function drawBox(i) {
    const l = view.layout, b = view.boxes[i], x = l.x[i] - b.w / 2, y = l.y[i];
    pen.fillStyle = b.color;
    if (camera.scale < 0.22) {
      pen.fillRect(x, y, b.w, b.h);
    } else {
      pen.beginPath();
      pen.roundRect(x, y, b.w, b.h, 4);
      pen.fill();
      if (b.lines.length > 0) {
        pen.fillStyle = ink.panel;
        pen.fillRect(x + 1, y + HEAD, b.w - 2, b.h - HEAD - 3);
      }
      pen.fillStyle = "#fff";
      pen.font = "600 12px system-ui, sans-serif";
      pen.fillText(b.title, x + 7, y + 15, b.w - 14);
      pen.font = "11px system-ui, sans-serif";
      pen.fillStyle = ink.ink;
      b.lines.forEach((line, k) => pen.fillText(line, x + 7, y + HEAD + 12 + LINE * k, b.w - 14));
      drawNotes(i, b);
    }
    if (i === selected) {
      pen.strokeStyle = ink.mark;
      pen.lineWidth = Math.max(2.5, 2 / camera.scale);
      pen.strokeRect(x - 2, y - 2, b.w + 4, b.h + 4);
    }
  }

  // What flows out of a node, and which edges are not drawn.
  function drawNotes(i, b) {
    const l = view.layout, n = view.nodes[i];
    if (camera.scale < 0.45) return;
    pen.fillStyle = ink.faint;
    pen.font = "10px system-ui, sans-serif";
    const used = n.outputs.filter((v) => view.consumers.has(v.name));
    if (n.kind === "node" && used.length === 1 && typeText(used[0])) pen.fillText(typeText(used[0]), l.x[i] + 5, l.y[i] + b.h + 12);
    const jumps = view.jumpsOf.get(i);
    if (jumps) pen.fillText(`↯ ${jumps.length}`, l.x[i] + b.w / 2 + 3, l.y[i] + 12);
  }

  function draw() {
    isDue = false;
    const density = window.devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
    if (canvas.width !== Math.round(w * density) || canvas.height !== Math.round(h * density)) {
      canvas.width = Math.round(w * density);
      canvas.height = Math.round(h * density);
    }
    pen.setTransform(density, 0, 0, density, 0, 0);
    pen.clearRect(0, 0, w, h);
    if (!view) return;
    const [left, top] = toGraph(0, 0), [right, bottom] = toGraph(w, h);
    pen.translate(w / 2, h / 2);
    pen.scale(camera.scale, camera.scale);
    pen.translate(-camera.x, -camera.y);
    const [first, last] = visibleRanks(top, bottom);
    drawSegments(first, last, left, right);
    for (let r = first; r < last; r++) {
      const list = view.rankNodes[r];
      for (let k = firstBeyond(list, left); k < list.length && view.layout.vx[list[k]] - view.boxes[list[k]].w / 2 <= right; k++) drawBox(list[k]);
    }
  }
  function redraw() {
    if (!isDue) requestAnimationFrame(draw);
    isDue = true;
  }

  function pick(x, y) {
    const [gx, gy] = toGraph(x, y), [first, last] = visibleRanks(gy, gy);
    for (let r = first; r < last; r++) {
      const list = view.rankNodes[r], k = firstBeyond(list, gx);
      if (k >= list.length) continue;
      const i = list[k], b = view.boxes[i];
      if (Math.abs(gx - view.layout.x[i]) <= b.w / 2 && gy >= view.layout.y[i] && gy <= view.layout.y[i] + b.h) return i;
    }
    return -1;
  }

  function zoom(factor, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) {
    const [gx, gy] = toGraph(x, y);
    camera.scale = Math.min(4, Math.max(0.0005, camera.scale * factor));
    const [nx, ny] = toGraph(x, y);
    camera.x += gx - nx;
    camera.y += gy - ny;
    redraw();
  }
  // The whole graph if its nodes can be read then, else its beginning.
  function fit(everything) {
    const l = view.layout, w = canvas.clientWidth, h = canvas.clientHeight;
    const scale = Math.min(1.2, 0.94 * w / Math.max(1, l.width), 0.94 * h / Math.max(1, l.height));
    camera = { x: l.left + l.width / 2, y: l.height / 2, scale };
    if (!everything && scale < 0.35 && view.boxes.length > 0) {
      const first = l.ranks[0].order;
      camera = { x: l.vx[first[first.length >> 1]], y: 0.42 * h / 0.8, scale: 0.8 };
    }
    redraw();
  }

  // The panels.
  function element(tag, text, className) {
    const e = document.createElement(tag);
    if (text !== undefined) e.textContent = text;
    if (className) e.className = className;
    return e;
  }
  function button(text, action, className) {
    const e = element("button", text, className);
    e.addEventListener("click", action);
    return e;
  }
  function list(pairs) {
    const dl = element("dl");
    for (const [name, value] of pairs) dl.append(element("dt", name), element("dd", String(value)));
    return dl;
  }
  function previewText(p) {
    const show = (v) => (typeof v === "string" && !/^(NaN|-?Infinity|-?[0-9]+)$/.test(v) ? JSON.stringify(v) : typeof v === "number" && !Number.isInteger(v) ? String(Number(v.toPrecision(8))) : String(v));
    const values = p.values.map(show);
    if (!p.truncated) return `[${values.join(", ")}]`;
    return `[${values.slice(0, p.split).join(", ")}, … ${values.slice(p.split).join(", ")}]  ${p.total} elements`;
  }
  function tensor(v, isInput) {
    const box = element("div", undefined, "tensor");
    box.append(element("code", v.name || "(left out)"));
    if (typeText(v)) box.append(element("div", typeText(v), "note"));
    if (v.docstring) box.append(element("div", v.docstring, "note"));
    if (v.weight_preview) box.append(element("div", previewText(v.weight_preview), "values"));
    const ends = !v.name ? [] : isInput ? [view.producer.get(v.name)].filter((p) => p !== undefined) : view.consumers.get(v.name) || [];
    for (const i of [...new Set(ends)].slice(0, 12)) {
      const n = view.nodes[i];
      box.append(button(`${isInput ? "↑" : "↓"} ${cut(n.kind === "node" ? n.op_type : n.kind, 20)} ${cut(n.name, 30)}`, () => go(n.node_id), "jump"));
    }
    if (ends.length > 12) box.append(element("span", `and ${ends.length - 12} more`, "note"));
    return box;
  }
  function tensors(panel, title, values, isInput) {
    if (values.length === 0) return;
    panel.append(element("h3", title));
    for (const v of values) panel.append(tensor(v, isInput));
  }

  function showGraph(panel) {
    const info = payload.model_info, counts = new Map(), kinds = new Set();
    for (const n of view.nodes) {
      kinds.add(kindOf(n));
      if (n.kind === "node") counts.set(n.op_type, (counts.get(n.op_type) || 0) + 1);
    }
    panel.append(element("h2", view.title));
    if (view.key === "graph 0") panel.append(list([["model", payload.model_path], ["nodes", info.num_nodes], ["inputs", info.num_inputs], ["outputs", info.num_outputs]]));
    if (view.layout.jumps.length > 0) panel.append(element("p", `${view.layout.jumps.length} edges are not drawn (↯): they would cross too many rows. Click a node to follow them.`, "note"));
    panel.append(element("h3", "Operators"), list([...counts].sort((a, b) => b[1] - a[1]).slice(0, 60)));
    panel.append(element("h3", "Colours"));
    KINDS.forEach(([name, color], i) => {
      if (!kinds.has(i)) return;
      const row = element("div"), swatch = element("span", undefined, "swatch");
      swatch.style.background = color;
      row.append(swatch, name);
      panel.append(row);
    });
  }

  function showNode(panel, n) {
    panel.append(element("h2", n.op_type));
    panel.append(list([["name", n.name || "(none)"], ["domain", n.domain], ["id", n.kind === "outside" ? undefined : n.node_id], ["origin", n.origin], ["tactic", n.tactic], ["doc", n.docstring]].filter((p) => p[1])));
    const bodies = Object.entries(n.subgraphs);
    if (bodies.length > 0 || n.calls !== undefined) panel.append(element("h3", "Inside"));
    for (const [name, body] of bodies) panel.append(button(`▸ ${name} (${body.all_node_ids.length} nodes)`, () => open(`${n.node_id}/${name}`), "jump"));
    if (n.calls !== undefined) panel.append(button(`▸ function ${payload.graphs[n.calls].title}`, () => open(`graph ${n.calls}`), "jump"));
    if (n.kind === "outside") panel.append(button("↑ where it comes from", () => goOutside(n.name), "jump"));
    if (n.attrs.length > 0) panel.append(element("h3", "Attributes"), list(n.attrs.map((a) => [a.key, a.val + (a.weight_preview ? `\n${previewText(a.weight_preview)}` : "")])));
    tensors(panel, "Inputs", n.inputs, true);
    tensors(panel, "Outputs", n.outputs, false);
  }

  function select(i) {
    selected = i;
    near = new Set();
    const panel = at("details");
    panel.replaceChildren();
    panel.scrollTop = 0;
    if (i < 0) {
      showGraph(panel);
    } else {
      showNode(panel, view.nodes[i]);
      markWays(i);
    }
    history.replaceState(null, "", i < 0 ? "#" : `#${encodeURIComponent(view.nodes[i].node_id)}`);
    redraw();
  }
  // The points that edges to a node pass.
  function markWays(i) {
    const l = view.layout;
    for (const v of view.nodes[i].inputs) {
      const p = view.producer.get(v.name);
      if (p === undefined) continue;
      const points = l.rank[i] - l.rank[p] - 1;
      for (let k = 0; k < points && points <= l.trunkLength[p]; k++) near.add(l.trunkStart[p] + k);
    }
  }

  function open(key, keepPlace) {
    if (view) view.camera = { ...camera };
    view = prepare(views.get(key));
    if (view.camera && keepPlace) camera = view.camera;
    else fit(false);
    const trail = [];
    for (let v = view; v; v = v.parent ? views.get(v.parent) : null) trail.unshift(v);
    at("trail").replaceChildren(...(trail.length < 2 ? [] : trail.flatMap((v, i) => [...(i ? [" › "] : []), button(cut(oneLine(v.title), 40), () => open(v.key, true))])));
    at("graphs").value = trail[0].key;
    select(-1);
  }
  // Shows a node, wherever it is.
  function go(id) {
    const key = viewOf.get(id) ?? view.key;
    if (!view || view.key !== key) open(key);
    const i = view.index.get(id), l = view.layout;
    if (i === undefined) return;
    camera = { x: l.x[i], y: l.y[i] + view.boxes[i].h / 2, scale: Math.max(0.7, camera.scale) };
    select(i);
  }
  function goOutside(name) {
    for (let v = view; v.parent; ) {
      const inner = v;
      v = prepare(views.get(v.parent));
      const p = v.producer.get(name);
      const target = p !== undefined ? v.nodes[p] : v.parent ? null : nodeOf.get(inner.owner);
      if (target) {
        open(v.key);
        return go(target.node_id);
      }
    }
  }

  function search() {
    const words = at("query").value.trim().toLowerCase(), field = at("field").value, hits = at("hits");
    hits.replaceChildren();
    at("found").textContent = "";
    if (!words) return;
    const has = (text) => text.toLowerCase().includes(words);
    let count = 0;
    for (const [id, n] of nodeOf) {
      const fits = ((field === "any" || field === "op") && has(n.op_type)) || ((field === "any" || field === "name") && has(n.name)) ||
                   ((field === "any" || field === "tensor") && (n.inputs.some((v) => has(v.name)) || n.outputs.some((v) => has(v.name))));
      if (!fits || ++count > MOST_HITS) continue;
      const row = element("li");
      row.append(button(`${n.kind === "node" ? n.op_type : n.kind}  ${n.name}`, () => go(id)));
      hits.append(row);
    }
    at("found").textContent = count > MOST_HITS ? `${count} nodes, the first ${MOST_HITS}:` : `${count} node${count === 1 ? "" : "s"}`;
  }

  function listen() {
    let drag = null;
    canvas.addEventListener("pointerdown", (e) => { drag = { x: e.offsetX, y: e.offsetY, moved: false }; canvas.setPointerCapture(e.pointerId); });
    canvas.addEventListener("pointermove", (e) => {
      if (!drag) return;
      if (Math.abs(e.offsetX - drag.x) + Math.abs(e.offsetY - drag.y) < 4 && !drag.moved) return;
      camera.x -= (e.offsetX - drag.x) / camera.scale;
      camera.y -= (e.offsetY - drag.y) / camera.scale;
      drag = { x: e.offsetX, y: e.offsetY, moved: true };
      redraw();
    });
    canvas.addEventListener("pointerup", (e) => {
      if (drag && !drag.moved) select(pick(e.offsetX, e.offsetY));
      drag = null;
    });
    canvas.addEventListener("dblclick", (e) => {
      const i = pick(e.offsetX, e.offsetY);
      if (i < 0) return;
      const n = view.nodes[i], bodies = Object.keys(n.subgraphs);
      if (n.calls !== undefined) open(`graph ${n.calls}`);
      else if (bodies.length > 0) open(`${n.node_id}/${bodies[0]}`);
      else if (n.kind === "outside") goOutside(n.name);
    });
    canvas.addEventListener("wheel", (e) => {
      e.preventDefault();
      const unit = e.deltaMode === 1 ? 16 : 1;
      if (e.ctrlKey || e.metaKey) return zoom(Math.exp(-e.deltaY * unit * 0.0025), e.offsetX, e.offsetY);
      camera.x += (e.shiftKey ? e.deltaY + e.deltaX : e.deltaX) * unit / camera.scale;
      camera.y += (e.shiftKey ? 0 : e.deltaY) * unit / camera.scale;
      redraw();
    }, { passive: false });
    canvas.addEventListener("keydown", (e) => {
      const step = 80 / camera.scale;
      const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
      if (moves[e.key]) { camera.x += moves[e.key][0]; camera.y += moves[e.key][1]; redraw(); e.preventDefault(); }
    });
    document.addEventListener("keydown", (e) => {
      const types = e.target === at("query");
      if ((e.key === "f" && (e.ctrlKey || e.metaKey)) || (e.key === "/" && !types)) { at("query").select(); e.preventDefault(); }
      else if (e.key === "Escape") select(-1);
      else if (types || e.ctrlKey || e.metaKey || e.altKey) return;
      else if (e.key === "+" || e.key === "=") zoom(1.3);
      else if (e.key === "-") zoom(1 / 1.3);
      else if (e.key === "0") fit(true);
    });
    at("in").addEventListener("click", () => zoom(1.3));
    at("out").addEventListener("click", () => zoom(1 / 1.3));
    at("fit").addEventListener("click", () => fit(true));
    at("query").addEventListener("input", search);
    at("field").addEventListener("change", search);
    at("graphs").addEventListener("change", (e) => open(e.target.value));
    window.addEventListener("hashchange", () => goToHash(location.hash));
    new ResizeObserver(redraw).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", takeColors);
  }
  function goToHash(hash) {
    let id = hash.slice(1);
    try { id = decodeURIComponent(id); } catch { return; }
    if (viewOf.has(id)) go(id);
    else if (views.has(id)) open(id);
  }
  function takeColors() {
    const style = getComputedStyle(document.documentElement);
    for (const name of ["ink", "faint", "edge", "mark", "panel"]) ink[name] = style.getPropertyValue(`--${name}`).trim();
    redraw();
  }

  document.title = at("title").textContent = oneLine(payload.model_info.title);
  at("path").textContent = payload.model_path;
  payload.graphs.forEach((g, i) => {
    const option = element("option", cut(oneLine(g.title), 60));
    option.value = `graph ${i}`;
    at("graphs").append(option);
  });
  at("graphs").hidden = payload.graphs.length < 2;
  const asked = location.hash;
  takeColors();
  listen();
  open("graph 0");
  goToHash(asked);
})();
