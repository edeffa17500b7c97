// Small pictures of tensors: histograms and heat maps.
"use strict";

const Pictures = (() => {
  const WIDTH = 260, HEIGHT = 72;

  function canvas(width, height, label) {
    const c = Dom.element("canvas", undefined, "picture");
    c.width = width;
    c.height = height;
    c.setAttribute("role", "img");
    c.setAttribute("aria-label", label);
    return c;
  }
  const ink = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

  // {low, high, counts}
  function histogram(h) {
    const most = Math.max(1, ...h.counts), c = canvas(WIDTH, HEIGHT, `Histogram from ${Text.short(h.low)} to ${Text.short(h.high)}`), pen = c.getContext("2d"), step = WIDTH / h.counts.length;
    pen.fillStyle = "#4a7fb5";
    // Logarithmic heights: a few elements far out are what one looks for.
    h.counts.forEach((n, i) => { if (n > 0) { const height = Math.max(1, (Math.log1p(n) / Math.log1p(most)) * (HEIGHT - 2)); pen.fillRect(i * step, HEIGHT - height, Math.max(1, step - 0.5), height); } });
    pen.strokeStyle = ink("line");
    pen.strokeRect(0.5, 0.5, WIDTH - 1, HEIGHT - 1);
    return c;
  }
  // {rows, columns, values: numbers in row-major order, strings for NaN and the infinities}
  function heatMap(map) {
    const scale = Math.max(1, Math.min(Math.floor(WIDTH / map.columns), Math.floor(160 / map.rows))), c = canvas(map.columns * scale, map.rows * scale, `Heat map of ${map.rows} by ${map.columns} averages`), pen = c.getContext("2d");
    const finite = map.values.filter((v) => typeof v === "number" && Number.isFinite(v)), most = finite.reduce((m, v) => Math.max(m, Math.abs(v)), 0) || 1;
    map.values.forEach((v, i) => {
      const part = typeof v === "number" ? v / most : NaN, strength = Math.min(1, Math.abs(part));
      // Blue below zero, red above, white at zero; what is no number is black.
      const fade = Math.round(255 * (1 - strength));
      pen.fillStyle = Number.isNaN(part) ? "#000" : part < 0 ? `rgb(${fade},${Math.round(255 - 140 * strength)},255)` : `rgb(255,${Math.round(255 - 190 * strength)},${fade})`;
      pen.fillRect((i % map.columns) * scale, Math.floor(i / map.columns) * scale, scale, scale);
    });
    return c;
  }
  // {of, elements, min, max, mean, deviation, nan, infinite, histogram, map}
  function tensor(d) {
    const box = Dom.element("div", undefined, "picture-box");
    const numbers = [["least", d.min], ["largest", d.max], ["mean", d.mean], ["deviation", d.deviation], ["NaN", d.nan || undefined], ["infinite", d.infinite || undefined]].filter(([, v]) => v !== undefined && v !== null);
    box.append(Dom.element("div", `${d.of ? `${Text.cut(Text.oneLine(d.of), 60)}: ` : ""}${numbers.map(([n, v]) => `${n} ${Text.short(v)}`).join(", ")}`, "note"));
    if (d.histogram) box.append(histogram(d.histogram));
    if (d.map) box.append(heatMap(d.map));
    return box;
  }
  return { tensor };
})();
