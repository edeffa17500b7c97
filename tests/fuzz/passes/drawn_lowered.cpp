// Operators that the engine's builder writes out in others.
#include <limits>

#include "fuzz/passes/drawn.h"

namespace assay::fuzz {
namespace {

constexpr const char* kMicrosoft = "com.microsoft";

DType f32(Draft& d) { return d.chance(92) ? DType::kFloat32 : some_float(d.r); }

Numbers fed(Draft& d) {
  return d.r.one_of({Numbers::kPlain, Numbers::kPlain, Numbers::kWhole, Numbers::kAny});
}

Value* fixed(Draft& d, DType t, const Shape& s, Numbers n = Numbers::kPlain) {
  return d.input(t, s, n, false);
}

Value* bytes(Draft& d, DType t, const Shape& shape, bool is_constant) {
  Tensor x = Tensor::allocate(t, shape);
  for (int64_t i = 0; i < x.numel(); ++i)
    static_cast<uint8_t*>(x.mutable_data())[i] = static_cast<uint8_t>(d.r.below(256));
  return is_constant ? d.constant(x) : d.input(x, false);
}

Value* scale(Draft& d, int64_t count = 0) {
  Tensor t = Tensor::allocate(DType::kFloat32, count == 0 ? Shape{} : Shape{count});
  for (float& s : t.mutable_span<float>()) s = d.r.one_of({0.5F, 0.25F, 0.1F, 1.0F, 0.0123F});
  return d.constant(t);
}

Value* zero(Draft& d, DType t, int64_t count = 0) {
  Tensor z = Tensor::allocate(t, count == 0 ? Shape{} : Shape{count});
  for (int64_t i = 0; i < z.numel(); ++i)
    static_cast<uint8_t*>(z.mutable_data())[i] = static_cast<uint8_t>(d.r.one_of({0, 0, 3, 128, 255}));
  return d.constant(z);
}

DType byte_type(Draft& d) { return d.r.one_of({DType::kUInt8, DType::kInt8}); }

}  // namespace

void draw_lower_moves(Draft& d) {
  d.opset = d.r.one_of({9, 11, 13});
  const DType t = some_float(d.r);
  const int64_t b = d.r.between(1, 3);
  const AttributeList mode = {{"blocksize", b}, {"mode", std::string(d.r.one_of({"DCR", "CRD"}))}};
  switch (d.r.below(3)) {
    case 0:
      d.output(d.node(
          "SpaceToDepth",
          {fixed(d, t, {d.r.between(1, 2), d.r.between(1, 2), b * d.r.between(1, 2), b * d.r.between(1, 2)})},
          {{"blocksize", b}}));
      return;
    case 1:
      d.output(d.node(
          "DepthToSpace",
          {fixed(d, t, {d.r.between(1, 2), b * b * d.r.between(1, 2), d.r.between(1, 2), d.r.between(1, 2)})},
          d.opset >= 11 ? mode : AttributeList{{"blocksize", b}}));
      return;
    default: {
      const int rank = static_cast<int>(d.r.between(1, 4));
      std::vector<int64_t> repeats;
      for (int a = 0; a < rank; ++a) repeats.push_back(d.r.between(d.chance(5) ? 0 : 1, 3));
      d.output(d.node("Tile", {fixed(d, t, d.shape(rank)), d.ints(repeats)}));
    }
  }
}

void draw_scale_queries(Draft& d) {
  d.opset = d.r.one_of({9, 13, 17});
  d.may_overflow = true;
  d.closeness = Closeness::kRounding;
  const DType t = f32(d);
  const int64_t heads = d.r.between(1, 3), rows = d.r.between(1, 3), depth = d.r.between(1, 3), keys = 2;
  const bool four = d.chance(50);
  const auto shape = [&](int64_t m, int64_t n) {
    return four ? Shape{d.r.between(1, 2), heads, m, n} : Shape{heads, m, n};
  };
  Shape q = shape(rows, depth), k = shape(depth, keys);
  if (four) k[0] = q[0];
  Value* s = d.node("MatMul", {d.input(t, q), d.input(t, k)});
  Value* c = d.constant(t, d.chance(80) ? Shape{heads, 1, 1} : Shape{heads, 1, keys});
  s = d.chance(50) ? d.node("Mul", {s, c}) : d.node("Mul", {c, s});
  if (d.chance(50)) s = d.node("Add", {s, d.input(t, {rows, keys})});
  if (d.chance(10)) d.output(s);
  d.output(d.node("Softmax", {s}, {{"axis", int64_t{four ? 3 : 2}}}));
}

void draw_lower_products(Draft& d) {
  d.closeness = Closeness::kRounding;
  d.opset = d.r.one_of({12, 13, 17});
  const DType t = f32(d);
  const int64_t m = d.r.between(1, 3), k = d.r.between(1, 3), n = d.r.between(1, 3), b = d.r.between(1, 2);
  if (d.chance(50)) {
    const Shape left = d.r.one_of<Shape>({{k}, {m, k}, {b, m, k}, {1, b, m, k}}),
                right = d.r.one_of<Shape>({{k}, {k, n}, {b, k, n}, {1, k, n}});
    d.output(d.node("MatMul", {fixed(d, t, left, fed(d)),
                               d.chance(50) ? d.constant(t, right) : fixed(d, t, right, fed(d))}));
    return;
  }
  struct Case {
    const char* equation;
    Shape a, b;
  };
  const Case c = d.r.one_of<Case>({{"ij,jk->ik", {m, k}, {k, n}},
                                   {"ij,jk->ki", {m, k}, {k, n}},
                                   {"bij,bjk->bik", {b, m, k}, {b, k, n}},
                                   {"bij,bkj->bki", {b, m, k}, {b, n, k}},
                                   {"ij,ij->ij", {m, k}, {m, k}},
                                   {"ij,ij->i", {m, k}, {m, k}},
                                   {"i,j->ij", {m}, {n}},
                                   {"i,i->", {m}, {m}},
                                   {"bhid, bhjd->bhij", {b, 1, m, k}, {b, 1, n, k}},
                                   {"ij,j->ij", {m, k}, {k}},
                                   {"ij,jk", {m, k}, {k, n}},
                                   {"ii,ij->j", {m, m}, {m, n}}});
  d.output(d.node("Einsum", {fixed(d, t, c.a, fed(d)), fixed(d, t, c.b, fed(d))},
                  {{"equation", std::string(c.equation)}}));
}

void draw_lower_formulas(Draft& d) {
  d.closeness = Closeness::kRounding;
  d.may_overflow = true;
  d.opset = d.r.one_of({11, 13, 18});
  const DType t = f32(d);
  const int rank = static_cast<int>(d.r.between(1, 4));
  Value* x = fixed(d, t, d.shape(rank), fed(d));
  switch (d.r.below(4)) {
    case 0: {
      AttributeList attributes;
      if (rank != 4 || d.chance(70)) attributes.emplace_back("axes", d.axes(rank));
      d.output(d.node("MeanVarianceNormalization", {x}, attributes));
      return;
    }
    case 1:
      d.output(
          d.node("LpNormalization", {x}, {{"axis", d.r.between(-rank, rank - 1)}, {"p", d.r.between(1, 2)}}));
      return;
    default:
      d.output(d.reduce(d.r.one_of({"ReduceLogSumExp", "ReduceLogSum"}), x, d.axes(rank), d.chance(50)));
  }
}

void draw_lower_fused(Draft& d) {
  d.closeness = Closeness::kRounding;
  d.may_overflow = true;
  d.opset = d.r.one_of({13, 17, 21});
  const DType t = DType::kFloat32;
  const int64_t hidden = d.r.between(1, 4);
  Shape shape = d.shape(static_cast<int>(d.r.below(3)));
  shape.push_back(hidden);
  Value* x = fixed(d, t, shape, fed(d));
  const Shape row = {hidden};
  switch (d.r.below(7)) {
    case 0: {
      std::vector<Value*> inputs = {x};
      const char* op = d.r.one_of({"FastGelu", "Gelu", "QuickGelu", "BiasGelu"});
      if (std::string_view(op) == "BiasGelu" || (std::string_view(op) == "FastGelu" && d.chance(50)))
        inputs.push_back(d.constant(t, row));
      d.output(d.node(op, inputs, {}, kMicrosoft));
      return;
    }
    case 1:
      d.output(d.node(d.r.one_of({"SkipLayerNormalization", "SkipSimplifiedLayerNormalization"}),
                      {x, fixed(d, t, shape), d.constant(t, row)}, {{"epsilon", 1e-3F}}, kMicrosoft));
      return;
    case 2:
      d.output(d.node("SimplifiedLayerNormalization", {x, d.constant(t, row)}, {{"epsilon", 1e-3F}}));
      return;
    case 3: {
      const int64_t n = d.r.between(1, 3);
      const bool turned = d.chance(50);
      d.output(d.node("FusedMatMul",
                      {fixed(d, t, {2, hidden}), d.constant(t, turned ? Shape{n, hidden} : Shape{hidden, n})},
                      {{"transB", int64_t{turned}}, {"alpha", d.r.one_of({1.0F, 0.5F, 0.0F})}}, kMicrosoft));
      return;
    }
    case 4: {
      const std::string activation =
          d.r.one_of({"Relu", "LeakyRelu", "Clip", "Sigmoid", "HardSigmoid", "Tanh"});
      AttributeList attributes = {{"activation", activation}};
      if (activation == "Clip" || activation == "HardSigmoid" || activation == "LeakyRelu")
        attributes.emplace_back("activation_params",
                                activation == "LeakyRelu"
                                    ? std::vector<float>{0.5F}
                                    : std::vector<float>{d.r.one_of({0.0F, 1.0F}), d.r.one_of({1.0F, 0.5F})});
      d.output(d.node("FusedConv",
                      {fixed(d, t, {1, 2, 3, 3}, fed(d)), d.constant(t, {2, 2, 2, 2}), d.constant(t, {2})},
                      attributes, kMicrosoft));
      return;
    }
    case 5: {
      const int64_t groups = d.r.between(1, 2), channels = groups * d.r.between(1, 2);
      const Shape scales = {d.opset < 21 ? groups : channels};
      d.output(d.node("GroupNormalization",
                      {fixed(d, t, {2, channels, 3}, fed(d)), d.constant(t, scales), d.constant(t, scales)},
                      {{"num_groups", groups}, {"epsilon", 1e-3F}}));
      return;
    }
    default: {
      const int64_t half = d.r.between(1, 2), length = d.r.between(1, 3);
      d.output(d.node("RotaryEmbedding",
                      {fixed(d, t, {1, 2, length, 2 * half}, fed(d)),
                       d.constant(DType::kInt64, {1, length}, Numbers::kWhole), d.constant(t, {10, half}),
                       d.constant(t, {10, half})},
                      {{"interleaved", d.r.between(0, 1)}}, kMicrosoft));
    }
  }
}

void draw_lower_attention(Draft& d) {
  d.closeness = Closeness::kRounding;
  d.may_overflow = true;
  d.opset = d.r.one_of({23, 24});
  const DType t = f32(d);
  const int64_t batch = d.r.between(1, 2), heads = d.r.between(1, 2), groups = d.chance(70) ? heads : 1;
  const int64_t queries = d.r.between(1, 3), keys = d.r.between(1, 3), size = d.r.between(1, 3);
  // Scores are finite except for masked ones: masks alone decide which keys no query attends to.
  const Numbers numbers =
      d.r.one_of({Numbers::kPlain, Numbers::kPlain, Numbers::kWhole, Numbers::kTiny, Numbers::kLarge});
  AttributeList attributes;
  if (d.chance(30)) attributes.emplace_back("is_causal", int64_t{1});
  if (d.chance(20)) attributes.emplace_back("scale", 0.5F);
  std::vector<Value*> inputs;
  if (d.chance(50)) {
    inputs = {fixed(d, t, {batch, heads, queries, size}, numbers),
              fixed(d, t, {batch, groups, keys, size}, numbers),
              fixed(d, t, {batch, groups, keys, size}, numbers)};
  } else {
    inputs = {fixed(d, t, {batch, queries, heads * size}, numbers),
              fixed(d, t, {batch, keys, groups * size}, numbers),
              fixed(d, t, {batch, keys, groups * size}, numbers)};
    attributes.emplace_back("q_num_heads", heads);
    attributes.emplace_back("kv_num_heads", groups);
  }
  if (d.chance(40)) {
    const Shape mask = d.r.one_of<Shape>({{queries, keys}, {batch, 1, queries, keys}, {1, keys}});
    inputs.push_back(d.chance(50) ? fixed(d, DType::kBool, mask)
                                  : fixed(d, t, mask, d.r.one_of({Numbers::kPlain, Numbers::kSpecial})));
  }
  d.output(d.node("Attention", inputs, attributes));
}

void draw_lower_integer_products(Draft& d) {
  d.closeness = Closeness::kRounding;
  d.opset = d.r.one_of({11, 13, 17});
  const int64_t m = d.r.between(1, 3), k = d.r.between(1, 3), n = d.r.between(1, 3);
  const DType a = byte_type(d), b = byte_type(d);
  Value* bias = d.chance(40) ? d.constant(DType::kFloat32, {n}) : nullptr;
  if (d.chance(50)) {
    std::vector<Value*> inputs = {bytes(d, a, {m, k}, false),
                                  bytes(d, b, {k, n}, true),
                                  scale(d),
                                  scale(d, d.chance(50) ? n : 0),
                                  zero(d, a),
                                  d.chance(50) ? zero(d, b) : nullptr,
                                  bias};
    d.output(d.node("MatMulIntegerToFloat", inputs, {}, kMicrosoft));
  } else {
    std::vector<Value*> inputs = {fixed(d, DType::kFloat32, {m, k}, Numbers::kPlain),
                                  bytes(d, b, {k, n}, true), scale(d), d.chance(50) ? zero(d, b) : nullptr,
                                  bias};
    d.output(d.node("DynamicQuantizeMatMul", inputs, {}, kMicrosoft));
  }
}

void draw_lower_quantized(Draft& d) {
  d.closeness = Closeness::kQuantized;
  d.opset = d.r.one_of({10, 13, 17});
  const DType t = byte_type(d);
  switch (d.r.below(4)) {
    case 0: {
      const int64_t in = d.r.between(1, 2), out = d.r.between(1, 2);
      const int64_t by = d.chance(50) ? out : 0;
      const DType w = byte_type(d);
      std::vector<Value*> inputs = {bytes(d, t, {1, in, 3, 3}, false),
                                    scale(d),
                                    zero(d, t),
                                    bytes(d, w, {out, in, 2, 2}, true),
                                    scale(d, by),
                                    zero(d, w, by),
                                    scale(d),
                                    zero(d, t)};
      if (d.chance(50)) {
        Tensor bias = Tensor::allocate(DType::kInt32, {out});
        for (int32_t& x : bias.mutable_span<int32_t>()) x = static_cast<int32_t>(d.r.between(-100, 100));
        inputs.push_back(d.constant(bias));
      }
      d.output(d.node("QLinearConv", inputs));
      return;
    }
    case 1:
      d.output(d.node("QLinearMatMul",
                      {bytes(d, t, {2, 3}, false), scale(d), zero(d, t), bytes(d, t, {3, 2}, d.chance(50)),
                       scale(d), zero(d, t), scale(d), zero(d, t)}));
      return;
    case 2:
      d.output(d.node(d.r.one_of({"QLinearAdd", "QLinearMul"}),
                      {bytes(d, t, {2, 3}, false), scale(d), zero(d, t), bytes(d, t, {2, 3}, false), scale(d),
                       zero(d, t), scale(d), zero(d, t)},
                      {}, kMicrosoft));
      return;
    default:
      d.output(d.node(d.r.one_of({"QLinearSigmoid", "QLinearLeakyRelu"}),
                      {bytes(d, t, {2, 3}, false), scale(d), zero(d, t), scale(d), zero(d, t)}, {},
                      kMicrosoft));
  }
}

void draw_fuse_lookup(Draft& d) {
  d.closeness = Closeness::kQuantized;
  d.opset = d.r.one_of({13, 17, 21});
  const DType t = byte_type(d);
  Value* const levels = bytes(d, t, {d.r.between(1, 2), d.r.between(1, 3)}, false);
  Value *const s = scale(d), *const z = zero(d, t);
  const auto dequantized = [&] { return d.node("DequantizeLinear", {levels, s, z}); };
  Value* x = dequantized();
  for (size_t i = d.r.below(4); i > 0; --i) {
    switch (d.r.below(4)) {
      case 0:
        x = d.node(d.r.one_of({"Mul", "Add", "Max"}),
                   {x, d.chance(50)   ? dequantized()
                       : d.chance(80) ? d.constant(DType::kFloat32, d.r.one_of<Shape>({{}, {1}, {1, 1}}))
                                      : d.constant(DType::kFloat32, {1, 1, 1})});
        break;
      case 1:
        x = d.node("DequantizeLinear", {d.node("QuantizeLinear", {x, s, z}), s, z});
        break;
      case 2:
        x = d.node(d.r.one_of({"Sigmoid", "Tanh", "Relu", "Neg", "Softplus"}), {x});
        break;
      default:
        x = d.chance(20) ? d.node("Softmax", {x}) : d.node("Clip", {x, d.number(DType::kFloat32, -0.5)});
    }
    if (d.chance(5)) d.output(x);
  }
  const DType made = d.chance(80) ? t : byte_type(d);
  d.output(d.node("QuantizeLinear", {x, scale(d), zero(d, made)}));
}

void draw_move_quantized(Draft& d) {
  d.closeness = Closeness::kQuantized;
  d.opset = d.r.one_of({10, 13, 17});
  const DType t = byte_type(d);
  const double s = d.r.one_of({0.5, 0.1, 0.0123, 1e37});
  const double z = d.r.one_of({0.0, 3.0, 100.0});
  const auto level = [&](double number) { return d.number(t, number); };
  const Shape shape = {1, d.r.between(1, 2), 2, 2};
  const auto dequantized = [&] {
    return d.node("DequantizeLinear",
                  {bytes(d, t, shape, false), d.number(DType::kFloat32, d.chance(90) ? s : 0.25), level(z)});
  };
  Value* x = dequantized();
  for (size_t i = d.r.below(2) + 1; i > 0; --i) {
    switch (d.r.below(4)) {
      case 0:
        x = d.node("Transpose", {x}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
        break;
      case 1:
        x = d.node("Concat", {x, x->producer()->op_type == "DequantizeLinear" ? dequantized() : x},
                   {{"axis", int64_t{0}}});
        break;
      case 2:
        x = d.node("MaxPool", {x},
                   {{"kernel_shape", std::vector<int64_t>{1, 1}}, {"strides", std::vector<int64_t>{2, 1}}});
        break;
      default:
        x = d.node(d.r.one_of({"Flatten", "Identity", "Neg"}), {x});
        i = 1;
    }
    if (d.chance(5)) d.output(x);
  }
  d.output(d.node("QuantizeLinear",
                  {x, d.number(DType::kFloat32, d.chance(90) ? s : 0.25), level(d.chance(90) ? z : 1)}));
}

void draw_gather_quantized(Draft& d) {
  d.opset = d.r.one_of({17, 21});
  d.closeness = Closeness::kRounding;
  const int64_t rows = d.r.between(1, 4), block = 16, blocks = d.r.between(1, 2);
  const int64_t bits = d.r.one_of({4, 8});
  const Shape indices = d.r.one_of<Shape>({{2}, {1, 2}, {}, {3}});
  Tensor list = Tensor::allocate(DType::kInt64, indices);
  for (int64_t& i : list.mutable_span<int64_t>()) i = d.r.between(0, rows - 1);
  std::vector<Value*> inputs = {bytes(d, DType::kUInt8, {rows, block * blocks * bits / 8}, true),
                                d.input(list, false), d.constant(DType::kFloat32, {rows, blocks})};
  if (d.chance(40))
    inputs.push_back(bytes(d, DType::kUInt8, {rows, bits == 8 ? blocks : (blocks + 1) / 2}, true));
  d.output(d.node(
      "GatherBlockQuantized", inputs,
      {{"bits", bits}, {"block_size", block}, {"gather_axis", int64_t{0}}, {"quantize_axis", int64_t{1}}},
      kMicrosoft));
}

/// Scales of a matrix, and the attributes that say which elements they are for.
std::pair<Shape, AttributeList> drawn_scales(Draft& d, const Shape& matrix) {
  const int64_t axis = d.r.between(0, 1);
  Shape scales = matrix;
  switch (d.r.below(3)) {
    case 0:
      return {{}, {}};
    case 1:
      return {{matrix[static_cast<size_t>(axis)]}, {{"axis", axis}}};
    default:
      const int64_t block = d.r.one_of({8, 16, 32, 48});
      scales[static_cast<size_t>(axis)] = (matrix[static_cast<size_t>(axis)] + block - 1) / block;
      return {scales, {{"axis", axis}, {"block_size", block}}};
  }
}

void draw_pack_weights(Draft& d) {
  d.opset = 25;
  d.closeness = Closeness::kRounding;
  d.may_overflow = true;
  const int64_t depth = d.r.between(50, 70), columns = d.r.between(d.chance(90) ? 83 : 20, 90);
  const bool is_transposed = d.chance(50);
  const Shape matrix = is_transposed ? Shape{columns, depth} : Shape{depth, columns};
  const DType type =
      d.r.one_of({DType::kInt8, DType::kUInt8, DType::kInt4, DType::kUInt4, DType::kInt2, DType::kUInt2});
  auto [shape, attributes] = drawn_scales(d, matrix);
  std::vector<Value*> inputs = {d.constant(type, matrix), d.constant(DType::kFloat32, shape)};
  if (d.chance(40)) inputs.push_back(d.constant(type, shape));
  Value* w = d.node("DequantizeLinear", inputs, std::move(attributes));
  if (d.chance(30)) {
    Tensor rows = Tensor::allocate(DType::kInt64, d.r.one_of<Shape>({{2}, {1, 2}, {}}));
    for (int64_t& i : rows.mutable_span<int64_t>()) i = d.r.between(-matrix[0], matrix[0] - 1);
    d.output(d.node("Gather", {w, d.input(rows, false)}, {{"axis", int64_t{0}}}));
    if (d.chance(50)) return;
  }
  Value* const x = d.input(DType::kFloat32, {d.r.between(1, 5), depth});
  if (d.chance(50)) {
    AttributeList gemm = {{"transB", int64_t{is_transposed}}, {"alpha", static_cast<float>(d.nearly(1))}};
    d.output(d.node("Gemm", {x, w, d.constant(DType::kFloat32, {columns})}, std::move(gemm)));
    return;
  }
  if (is_transposed) w = d.node("Transpose", {w}, {{"perm", std::vector<int64_t>{1, 0}}});
  d.output(d.node("MatMul", {x, w}));
}

}  // namespace assay::fuzz
