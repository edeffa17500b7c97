// Colours by what operators do: the first kind that fits.
"use strict";

const Kinds = (() => {
  const LIST = [
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
    ["group", "#5c677d", null],
  ];
  const GROUP = LIST.length - 1, known = new Map();

  function of(node) {
    if (node.kind === "input") return 0;
    if (node.kind === "output") return 1;
    if (node.kind === "outside") return 2;
    if (node.calls !== undefined || Object.keys(node.subgraphs).length > 0) return 3;
    let kind = known.get(node.op_type);
    if (kind === undefined) {
      kind = LIST.findIndex(([, , pattern]) => pattern && pattern.test(node.op_type));
      if (kind < 0) kind = GROUP - 1;
      known.set(node.op_type, kind);
    }
    return kind;
  }
  return { LIST, GROUP, of, name: (k) => LIST[k][0], color: (k) => LIST[k][1] };
})();

if (typeof module !== "undefined") module.exports = { Kinds };
