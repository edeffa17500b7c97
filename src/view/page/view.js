// One graph on a canvas: the camera, what is open and selected, the mouse and the keys, and the overview in the corner.
"use strict";

class View {
  // hooks: onSelect(view, item), onChange(view): what is open, or which graph is shown, has changed; colorOf(item).
  constructor(canvas, minimap, items, hooks) {
    Object.assign(this, { canvas, minimap, items, hooks, pen: canvas.getContext("2d"), root: items.roots[0], selected: null, found: null, camera: { x: 0, y: 0, scale: 1 }, cameras: new Map(), isDue: false, ink: {}, frames: [], overview: null });
    this.openAtStart(this.root);
    this.listen();
    new ResizeObserver(() => this.redraw()).observe(canvas);
  }

  // Small graphs start with all their scopes open, large ones with little that is open.
  openAtStart(root) {
    const SMALL = 300, FEW = 7, SHOWN = 40;
    if (root.wasStarted) return;
    root.wasStarted = true;
    const openAll = (item) => { for (const c of item.children) if (c.node === null) { c.isOpen = true; openAll(c); } };
    if (root.count <= SMALL) return openAll(root);
    for (let next = root; next !== null; ) {
      const inner = next.children.filter((c) => c.node === null).sort((a, b) => b.count - a.count)[0];
      if (next.children.length > FEW || inner === undefined || inner.children.length > SHOWN) return;
      inner.isOpen = true;
      next = inner;
    }
  }

  get width() { return this.canvas.clientWidth; }
  get height() { return this.canvas.clientHeight; }
  toScreen(x, y) { return [(x - this.camera.x) * this.camera.scale + this.width / 2, (y - this.camera.y) * this.camera.scale + this.height / 2]; }
  toGraph(x, y) { return [(x - this.width / 2) / this.camera.scale + this.camera.x, (y - this.height / 2) / this.camera.scale + this.camera.y]; }

  style() { return { ink: this.ink, colorOf: this.hooks.colorOf, selected: this.selected, found: this.found }; }
  redraw() {
    if (!this.isDue) requestAnimationFrame(() => this.draw());
    this.isDue = true;
  }
  draw() {
    const begin = performance.now();
    this.isDue = false;
    const density = window.devicePixelRatio || 1, w = this.width, h = this.height, { canvas, pen, camera } = this;
    if (w === 0 || h === 0) return;
    if (canvas.width !== Math.round(w * density) || canvas.height !== Math.round(h * density)) {
      canvas.width = Math.round(w * density);
      canvas.height = Math.round(h * density);
    }
    pen.setTransform(density, 0, 0, density, 0, 0);
    pen.clearRect(0, 0, w, h);
    Scene.measure(this.root);
    const [left, top] = this.toGraph(0, 0), [right, bottom] = this.toGraph(w, h);
    pen.translate(w / 2, h / 2);
    pen.scale(camera.scale, camera.scale);
    pen.translate(-camera.x, -camera.y);
    Draw.paint(pen, this.root, camera.scale, { left, top, right, bottom }, this.style());
    this.drawMinimap();
    this.frames.push(performance.now() - begin);
    if (this.frames.length > 240) this.frames.shift();
  }

  // The overview: the whole drawing once, then the view's frame on it.
  drawMinimap() {
    const map = this.minimap, pen = map.getContext("2d"), { w, h } = Scene.extent(this.root), width = map.clientWidth, height = map.clientHeight;
    map.style.visibility = w * this.camera.scale <= this.width && h * this.camera.scale <= this.height ? "hidden" : "visible";
    if (map.style.visibility === "hidden" || width === 0) return;
    const scale = Math.min(width / (w + 40), height / (h + 40));
    if (this.overview === null || this.overview.scale !== scale) {
      const picture = document.createElement("canvas");
      picture.width = map.width = width;
      picture.height = map.height = height;
      const ink = picture.getContext("2d");
      ink.translate(width / 2, height / 2);
      ink.scale(scale, scale);
      ink.translate(0, -h / 2);
      Draw.paint(ink, this.root, scale, { left: -w, right: w, top: -40, bottom: h + 40 }, { ...this.style(), selected: null, found: null, smallest: 3 });
      this.overview = { scale, picture };
    }
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.drawImage(this.overview.picture, 0, 0);
    const at = (x, y) => [x * scale + width / 2, (y - h / 2) * scale + height / 2];
    const [x0, y0] = at(...this.toGraph(0, 0)), [x1, y1] = at(...this.toGraph(this.width, this.height));
    pen.strokeStyle = this.ink.mark;
    pen.lineWidth = 1.5;
    pen.strokeRect(x0, y0, Math.max(3, x1 - x0), Math.max(3, y1 - y0));
  }
  minimapTo(x, y) {
    const { w, h } = Scene.extent(this.root), map = this.minimap, scale = Math.min(map.clientWidth / (w + 40), map.clientHeight / (h + 40));
    this.camera.x = (x - map.clientWidth / 2) / scale;
    this.camera.y = (y - map.clientHeight / 2) / scale + h / 2;
    this.redraw();
  }

  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const [gx, gy] = this.toGraph(x, y);
    this.camera.scale = Math.min(4, Math.max(0.0005, this.camera.scale * factor));
    const [nx, ny] = this.toGraph(x, y);
    this.camera.x += gx - nx;
    this.camera.y += gy - ny;
    this.redraw();
  }
  // Everything, or the beginning where everything would be too small to be read.
  fit(everything) {
    Scene.measure(this.root);
    const { w, h } = Scene.extent(this.root), scale = Math.min(1.2, (0.94 * this.width) / Math.max(1, w), (0.94 * this.height) / Math.max(1, h));
    this.camera = { x: 0, y: h / 2, scale };
    if (!everything && scale < 0.35 && h > 0) {
      const first = this.root.scene.layout.ranks[0].order, l = this.root.scene.layout;
      const near = Math.min(0.8, Math.max(0.35, (0.94 * this.width) / Math.max(1, w)));
      this.camera = { x: l.vx[first[first.length >> 1]] + Scene.inset(this.root)[0], y: (0.42 * this.height) / near, scale: near };
    }
    this.redraw();
  }
  // Fits one item.
  frame(item) {
    const [x, y] = this.placeOf(item), b = item.box, room = Math.min((0.9 * this.width) / b.w, (0.9 * this.height) / b.h);
    const scale = item.isOpen ? Math.min(1, room) : Math.max(0.7, Math.min(this.camera.scale, 1.5));
    this.camera = { x, y: item.isOpen && b.h * scale < this.height ? y + b.h / 2 : y + Math.min(b.h, this.height / scale) / 2, scale };
    this.redraw();
  }
  placeOf(item) {
    Scene.measure(this.root);
    return item === this.root ? [0, 0] : Scene.placeOf(item);
  }

  changed() {
    this.overview = null;
    this.hooks.onChange(this);
    this.redraw();
  }
  // Opens or closes an item, which stays where it is on the screen.
  toggle(item, isOpen = !item.isOpen) {
    if (item === this.root || !item.canOpen || item.isOpen === isOpen) return;
    if (isOpen && !this.items.fill(item)) return;
    const before = this.isShown(item) ? this.placeOf(item) : null;
    item.isOpen = isOpen;
    Scene.forget(item);
    if (before !== null) {
      const [x, y] = this.placeOf(item);
      this.camera.x += x - before[0];
      this.camera.y += y - before[1];
    }
    if (!isOpen && this.selected !== null && this.selected !== item && this.selected.isWithin(item)) this.select(item);
    this.changed();
  }
  isShown(item) {
    for (let i = item.parent; i !== null; i = i.parent) if (!i.isOpen) return false;
    return true;
  }
  // Opens or closes everything below an item; bodies and functions stay as they are, and of very many items those further in.
  toggleAll(item, isOpen) {
    const MOST = 60000;
    let count = Scene.visibleCount(this.root);
    const pending = [item], groups = [];
    while (pending.length > 0) {
      const i = pending.shift();
      if (i.node === null && i !== this.root) groups.push(i);
      if (i.children !== null && (i.node === null || i.isOpen)) pending.push(...i.children.filter((c) => c.children !== null));
    }
    for (const g of groups) {
      if (isOpen && !g.isOpen) {
        count += g.children.length;
        if (count > MOST) break;
      }
      g.isOpen = isOpen;
    }
    Scene.forgetAll(item);
    Scene.forget(item);
    if (!isOpen && this.selected !== null && !this.isShown(this.selected)) this.select(null);
    this.changed();
    if (item === this.root) this.fit(false);
    else this.frame(item);
  }

  select(item) {
    this.selected = item;
    this.hooks.onSelect(this, item);
    this.redraw();
  }
  // Shows an item, wherever it is.
  go(item) {
    const root = item.path()[0];
    if (root !== this.root) this.show(root);
    if (!this.isShown(item)) {
      for (const i of item.path().slice(1, -1)) {
        i.isOpen = true;
        Scene.forget(i);
      }
      this.changed();
    }
    this.select(item === root ? null : item);
    if (item === root) this.fit(false);
    else this.frame(item);
  }
  goTo(id) {
    const leaf = this.items.leaf(id);
    if (leaf !== undefined) this.go(leaf);
    return leaf !== undefined;
  }
  // Shows another graph, where it was left.
  show(root) {
    this.cameras.set(this.root, { ...this.camera });
    this.root = root;
    this.openAtStart(root);
    const camera = this.cameras.get(root);
    if (camera === undefined) this.fit(false);
    else this.camera = camera;
    this.select(null);
    this.changed();
  }
  // Marks the items that hold these leaves, as far as they can be seen.
  mark(leaves) {
    this.found = leaves === null ? null : new Set(leaves.map((leaf) => leaf.path().find((i) => !i.isOpen || i === leaf)));
    this.redraw();
  }

  pick(x, y) { return Scene.pick(this.root, ...this.toGraph(x, y)); }
  pressed(x, y) {
    const hit = this.pick(x, y);
    if (hit === null) return this.select(null);
    const [gx, gy] = this.toGraph(x, y), isArrow = hit.item.canOpen && gx - hit.left < 22 && gy - hit.top < Draw.BAR * Math.max(1, Math.min(4, 0.75 / this.camera.scale));
    this.select(hit.item);
    if (isArrow) this.toggle(hit.item);
  }

  listen() {
    const { canvas, minimap } = this, touches = new Map();
    let drag = null, spread = 0;
    const distance = () => { const [a, b] = [...touches.values()]; return Math.hypot(a.x - b.x, a.y - b.y); };
    canvas.addEventListener("pointerdown", (e) => {
      touches.set(e.pointerId, { x: e.offsetX, y: e.offsetY });
      drag = { x: e.offsetX, y: e.offsetY, moved: touches.size > 1 };
      if (touches.size === 2) spread = distance();
      canvas.setPointerCapture(e.pointerId);
    });
    canvas.addEventListener("pointermove", (e) => {
      if (!drag || !touches.has(e.pointerId)) return;
      touches.set(e.pointerId, { x: e.offsetX, y: e.offsetY });
      if (touches.size === 2) {
        const now = distance();
        this.zoom(now / Math.max(1, spread), e.offsetX, e.offsetY);
        spread = now;
        return;
      }
      if (Math.abs(e.offsetX - drag.x) + Math.abs(e.offsetY - drag.y) < 4 && !drag.moved) return;
      this.camera.x -= (e.offsetX - drag.x) / this.camera.scale;
      this.camera.y -= (e.offsetY - drag.y) / this.camera.scale;
      drag = { x: e.offsetX, y: e.offsetY, moved: true };
      this.redraw();
    });
    const end = (e) => {
      if (e.type === "pointerup" && drag && !drag.moved) this.pressed(e.offsetX, e.offsetY);
      touches.delete(e.pointerId);
      drag = null;
    };
    canvas.addEventListener("pointerup", end);
    canvas.addEventListener("pointercancel", end);
    canvas.addEventListener("dblclick", (e) => {
      const hit = this.pick(e.offsetX, e.offsetY);
      if (hit !== null) this.toggle(hit.item);
    });
    canvas.addEventListener("wheel", (e) => {
      e.preventDefault();
      const unit = e.deltaMode === 1 ? 16 : 1;
      if (e.ctrlKey || e.metaKey) return this.zoom(Math.exp(-e.deltaY * unit * 0.0025), e.offsetX, e.offsetY);
      this.camera.x += ((e.shiftKey ? e.deltaY + e.deltaX : e.deltaX) * unit) / this.camera.scale;
      this.camera.y += ((e.shiftKey ? 0 : e.deltaY) * unit) / this.camera.scale;
      this.redraw();
    }, { passive: false });
    canvas.addEventListener("keydown", (e) => this.key(e));
    let isOnMap = false;
    minimap.addEventListener("pointerdown", (e) => { isOnMap = true; minimap.setPointerCapture(e.pointerId); this.minimapTo(e.offsetX, e.offsetY); });
    minimap.addEventListener("pointermove", (e) => { if (isOnMap) this.minimapTo(e.offsetX, e.offsetY); });
    minimap.addEventListener("pointerup", () => { isOnMap = false; });
  }

  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const step = 80 / this.camera.scale, moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] }[e.key];
    const item = this.selected;
    if (moves) {
      this.camera.x += moves[0];
      this.camera.y += moves[1];
      this.redraw();
    } else if ((e.key === "Enter" || e.key === " ") && item !== null) this.toggle(item);
    else if (e.key === "Backspace" && item !== null && item.parent !== null) this.go(item.parent);
    else if (e.key === "e") this.toggleAll(item !== null && item.node === null ? item : this.root, true);
    else if (e.key === "c") this.toggleAll(item !== null && item.node === null && item.isOpen ? item : this.root, false);
    else return;
    e.preventDefault();
  }
}
