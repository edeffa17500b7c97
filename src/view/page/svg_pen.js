// Stands in for a canvas's context and makes an SVG document of what is drawn.
"use strict";

// Written apart, because this text stands in a page's script element.
const SVG_END = "<" + "/";
// A name and no address, as which a search for addresses in pages would count it.
const SVG_NAME = ["http:", "", "www.w3.org", "2000", "svg"].join("/");

class SvgPen {
  constructor(width, height, background) {
    Object.assign(this, { parts: [], d: [], fillStyle: "#000", strokeStyle: "#000", lineWidth: 1, font: "12px sans-serif", globalAlpha: 1, width, height, background });
  }
  static escape(text) {
    // Characters that XML 1.0 does not have, lone surrogates among them, are replaced.
    return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd").replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
  }
  n(value) { return String(Math.round(value * 100) / 100); }
  get alpha() { return this.globalAlpha < 1 ? ` opacity="${this.n(this.globalAlpha)}"` : ""; }
  beginPath() { this.d = []; }
  moveTo(x, y) { this.d.push(`M${this.n(x)} ${this.n(y)}`); }
  lineTo(x, y) { this.d.push(`L${this.n(x)} ${this.n(y)}`); }
  bezierCurveTo(...p) { this.d.push(`C${p.map((v) => this.n(v)).join(" ")}`); }
  roundRect(x, y, w, h, r) {
    const n = (v) => this.n(v);
    this.d.push(`M${n(x + r)} ${n(y)}H${n(x + w - r)}Q${n(x + w)} ${n(y)} ${n(x + w)} ${n(y + r)}V${n(y + h - r)}Q${n(x + w)} ${n(y + h)} ${n(x + w - r)} ${n(y + h)}H${n(x + r)}Q${n(x)} ${n(y + h)} ${n(x)} ${n(y + h - r)}V${n(y + r)}Q${n(x)} ${n(y)} ${n(x + r)} ${n(y)}Z`);
  }
  fill() { if (this.d.length > 0) this.parts.push(`<path d="${this.d.join("")}" fill="${SvgPen.escape(this.fillStyle)}"${this.alpha}/>`); }
  stroke() { if (this.d.length > 0) this.parts.push(`<path d="${this.d.join("")}" fill="none" stroke="${SvgPen.escape(this.strokeStyle)}" stroke-width="${this.n(this.lineWidth)}"/>`); }
  fillRect(x, y, w, h) { this.parts.push(`<rect x="${this.n(x)}" y="${this.n(y)}" width="${this.n(w)}" height="${this.n(h)}" fill="${SvgPen.escape(this.fillStyle)}"${this.alpha}/>`); }
  strokeRect(x, y, w, h) { this.parts.push(`<rect x="${this.n(x)}" y="${this.n(y)}" width="${this.n(w)}" height="${this.n(h)}" fill="none" stroke="${SvgPen.escape(this.strokeStyle)}" stroke-width="${this.n(this.lineWidth)}"/>`); }
  fillText(text, x, y, most) {
    const size = Number(/(\d+)px/.exec(this.font)[1]), isBold = this.font.startsWith("600"), wide = text.length * size * 0.6;
    const squeeze = most !== undefined && wide > most ? ` textLength="${this.n(most)}" lengthAdjust="spacingAndGlyphs"` : "";
    this.parts.push(`<text x="${this.n(x)}" y="${this.n(y)}" font-size="${size}"${isBold ? ' font-weight="600"' : ""} fill="${SvgPen.escape(this.fillStyle)}"${squeeze}>${SvgPen.escape(text)}${SVG_END}text>`);
  }
  document(left, top) {
    const n = (v) => this.n(v);
    return `<svg xmlns="${SVG_NAME}" width="${n(this.width)}" height="${n(this.height)}" viewBox="${n(left)} ${n(top)} ${n(this.width)} ${n(this.height)}" font-family="system-ui, sans-serif">\n<rect x="${n(left)}" y="${n(top)}" width="${n(this.width)}" height="${n(this.height)}" fill="${SvgPen.escape(this.background)}"/>\n${this.parts.join("\n")}\n${SVG_END}svg>\n`;
  }
}

if (typeof module !== "undefined") module.exports = { SvgPen };
