// The drawing as a picture: PNG and SVG, of all that is open or of what is in view.
"use strict";

const Export = (() => {
  // Browsers refuse larger canvases.
  const MOST_PIXELS = 8192, MARGIN = 20;

  function bounds(view, everything) {
    Scene.measure(view.root);
    if (everything) {
      const { w, h } = Scene.extent(view.root);
      return { left: -w / 2 - MARGIN, right: w / 2 + MARGIN, top: -MARGIN, bottom: h + MARGIN };
    }
    const [left, top] = view.toGraph(0, 0), [right, bottom] = view.toGraph(view.width, view.height);
    return { left, right, top, bottom };
  }
  const nameOf = (view) => Text.oneLine(view.root.title).replace(/[^A-Za-z0-9._-]+/g, "_").slice(0, 80) || "graph";

  function svg(view, everything) {
    const b = bounds(view, everything), pen = new SvgPen(b.right - b.left, b.bottom - b.top, view.ink.back);
    Draw.paint(pen, view.root, everything ? 1 : view.camera.scale, b, view.style());
    return pen.document(b.left, b.top);
  }
  function png(view, everything) {
    const b = bounds(view, everything), w = b.right - b.left, h = b.bottom - b.top;
    const wish = everything ? 2 : view.camera.scale * (window.devicePixelRatio || 1), scale = Math.min(wish, MOST_PIXELS / w, MOST_PIXELS / h);
    const canvas = document.createElement("canvas");
    canvas.width = Math.max(1, Math.round(w * scale));
    canvas.height = Math.max(1, Math.round(h * scale));
    const pen = canvas.getContext("2d");
    pen.fillStyle = view.ink.back;
    pen.fillRect(0, 0, canvas.width, canvas.height);
    pen.scale(scale, scale);
    pen.translate(-b.left, -b.top);
    Draw.paint(pen, view.root, scale, b, view.style());
    return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  }
  function saveSvg(view) { Dom.save(`${nameOf(view)}.svg`, new Blob([svg(view, true)], { type: "image/svg+xml" })); }
  async function savePng(view) { Dom.save(`${nameOf(view)}.png`, await png(view, true)); }
  return { svg, png, saveSvg, savePng };
})();
