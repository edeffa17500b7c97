// Elements of the document. Text from a model enters it through textContent alone.
"use strict";

const Dom = (() => {
  const at = (id) => document.getElementById(id);
  function element(tag, text, className) {
    const e = document.createElement(tag);
    if (text !== undefined) e.textContent = text;
    if (className) e.className = className;
    return e;
  }
  function button(text, action, className) {
    const e = element("button", text, className);
    e.type = "button";
    e.addEventListener("click", action);
    return e;
  }
  function list(pairs) {
    const dl = element("dl");
    for (const [name, value] of pairs) dl.append(element("dt", name), element("dd", String(value)));
    return dl;
  }
  function swatch(color, ...texts) {
    const row = element("div"), s = element("span", undefined, "swatch");
    s.style.background = color;
    row.append(s, ...texts);
    return row;
  }
  function option(text, value) {
    const o = element("option", text);
    o.value = value;
    return o;
  }
  // The data in a script element of the page, null where it is not there or damaged.
  function data(id) {
    const e = at(id);
    return e === null ? null : JSON.parse(e.textContent);
  }
  // Offers a file for download.
  function save(name, blob) {
    const a = element("a");
    a.href = URL.createObjectURL(blob);
    a.download = name;
    a.click();
    setTimeout(() => URL.revokeObjectURL(a.href), 10000);
  }
  return { at, element, button, list, swatch, option, data, save };
})();
