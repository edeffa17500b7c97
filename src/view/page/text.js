// Texts from a model as the page shows them. All of them enter the document through textContent.
"use strict";

const Text = (() => {
  const CONSTANT = "Initializer | ";
  const UNITS = [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];

  const cut = (text, most) => (text.length > most ? text.slice(0, most - 1) + "…" : text);
  const cutFront = (text, most) => (text.length > most ? "…" + text.slice(text.length - most + 1) : text);
  // Without line breaks, other control characters, and characters that change the direction of what follows.
  const oneLine = (text) => (text.length > 4000 ? text.slice(0, 4000) : text).replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+/g, " ");
  const isConstant = (value) => value.name.startsWith(CONSTANT);
  const plainName = (value) => (isConstant(value) ? value.name.slice(CONSTANT.length) : value.name);
  const extents = (shape) => (shape === null ? "?" : shape.length === 0 ? "scalar" : shape.map((d) => (d === "-1" ? "?" : d)).join("×"));
  const typeText = (v) => [v.dtype, v.shape === null ? (v.dtype && !v.dtype.includes("(") ? "unknown rank" : null) : extents(v.shape)].filter(Boolean).join(" ");

  // 12.3M; bytes in powers of 1024.
  function short(number, unit = "") {
    if (typeof number !== "number") return String(number);
    if (!Number.isFinite(number)) return String(number);
    const size = Math.abs(number);
    if (unit === "B") {
      const names = ["B", "KiB", "MiB", "GiB", "TiB"];
      let i = 0, rest = size;
      while (rest >= 1024 && i < names.length - 1) { rest /= 1024; i++; }
      return `${Number((Math.sign(number) * rest).toPrecision(i === 0 ? 15 : 3))} ${names[i]}`;
    }
    const tail = unit ? ` ${unit}` : "";
    for (const [factor, letter] of UNITS) if (size >= factor && !unit.endsWith("s")) return `${Number((number / factor).toPrecision(3))}${letter}${tail}`;
    if (Number.isInteger(number)) return `${number}${tail}`;
    return `${size !== 0 && (size < 1e-3 || size >= 1e7) ? number.toExponential(2) : Number(number.toPrecision(4))}${tail}`;
  }
  // Orders names with numbers as people do: layer.2 before layer.10.
  const collator = typeof Intl === "undefined" ? null : new Intl.Collator("en", { numeric: true });
  const compare = (a, b) => (collator ? collator.compare(a, b) : a < b ? -1 : a > b ? 1 : 0);

  function preview(p) {
    const show = (v) => (typeof v === "string" && !/^(NaN|-?Infinity|-?[0-9]+)$/.test(v) ? JSON.stringify(v) : typeof v === "number" && !Number.isInteger(v) ? String(Number(v.toPrecision(8))) : String(v));
    const values = p.values.map(show);
    if (!p.truncated) return `[${values.join(", ")}]`;
    return `[${values.slice(0, p.split).join(", ")}, … ${values.slice(p.split).join(", ")}]  ${p.total} elements`;
  }

  return { CONSTANT, cut, cutFront, oneLine, isConstant, plainName, extents, typeText, short, compare, preview };
})();

if (typeof module !== "undefined") module.exports = { Text };
