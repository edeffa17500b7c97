// Products, and what works along rows.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "fuzz/networks/growing_network.h"

namespace assay::fuzz::pieces_of {
namespace {

using Ints = GrowingNetwork::Ints;

double range_of(int64_t terms) { return 1.5 / std::sqrt(static_cast<double>(std::max<int64_t>(terms, 1))); }

int64_t random_axis(GrowingNetwork& g, const Shape& s) { return static_cast<int64_t>(g.r.below(s.rank())); }

Value* swap_last(GrowingNetwork& g, Value* x) {
  Ints perm(GrowingNetwork::shape(*x).rank());
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return g.op("Transpose", {x}, {{"perm", perm}});
}

}  // namespace

void matmul(GrowingNetwork& g) {
  Value* x = g.pick();
  const Shape in = GrowingNetwork::shape(*x);
  if (in.rank() < 2) return;
  const int64_t k = in[in.rank() - 1];
  if (g.r.chance(25)) return g.hand_on(g.op("MatMul", {x, swap_last(g, x)}));
  const int64_t n = g.extent();
  Value* y = g.op("MatMul", {x, g.weight({k, n}, -range_of(k), range_of(k))});
  if (g.r.chance(50)) y = g.op("Add", {y, g.weight({n})});
  g.hand_on(y);
}

void gemm(GrowingNetwork& g) {
  Value* x = g.pick(2);
  if (x == nullptr) return;
  const Shape in = GrowingNetwork::shape(*x);
  const bool turned = g.r.chance(30), turned_weight = g.r.chance(50);
  const int64_t k = turned ? in[0] : in[1], n = g.extent();
  std::vector<Value*> inputs = {
      x, g.weight(turned_weight ? Shape{n, k} : Shape{k, n}, -range_of(k), range_of(k))};
  if (g.r.chance(70)) inputs.push_back(g.weight(g.r.chance(80) ? Shape{n} : Shape{}));
  g.hand_on(g.op("Gemm", inputs,
                 {{"transA", int64_t{turned}}, {"transB", int64_t{turned_weight}}, {"alpha", 0.75F}}));
}

/// Queries, keys and values [batch, heads, rows, width] out of one product, whose elements have any order.
std::vector<Value*> packed_heads(GrowingNetwork& g, Value* x, int64_t heads, int64_t width) {
  const Shape in = GrowingNetwork::shape(*x);
  const double range = range_of(in[2]);
  Value* y = g.op("MatMul", {x, g.weight({in[2], 3 * heads * width}, -range, range)});
  const bool by_rows = g.r.chance(50);  // else rows are last, as behind a convolution
  if (!by_rows) y = g.op("Tanh", {g.op("Transpose", {y}, {{"perm", Ints{0, 2, 1}}})});
  Value* shape = g.ints(by_rows ? Ints{in[0], in[1], 3, heads, width} : Ints{in[0], 3, heads, width, in[1]});
  y = g.op("Reshape", {y, shape}, {{"allowzero", int64_t{1}}});
  y = g.op("Transpose", {y}, {{"perm", by_rows ? Ints{2, 0, 3, 1, 4} : Ints{1, 0, 2, 4, 3}}});
  std::vector<Value*> parts;
  for (int64_t i = 0; i < 3; ++i) {
    Value* part = g.r.chance(50) ? g.op("Gather", {y, g.ints({i})}, {{"axis", int64_t{0}}})
                                 : g.op("Slice", {y, g.ints({i}), g.ints({i + 1}), g.ints({0})});
    parts.push_back(g.op("Squeeze", {part, g.ints({0})}));
  }
  return parts;
}

void attention(GrowingNetwork& g) {
  Value* x = g.pick(3);
  if (x == nullptr) return;
  const Shape in = GrowingNetwork::shape(*x);
  const int64_t heads = g.r.one_of({int64_t{1}, int64_t{2}, int64_t{3}}),
                width = g.r.one_of({int64_t{1}, int64_t{5}, int64_t{8}, int64_t{16}});
  const double range = range_of(in[2]);
  std::vector<Value*> parts;
  if (g.r.chance(40)) parts = packed_heads(g, x, heads, width);
  while (parts.size() < 3) {
    Value* y = g.op("MatMul", {x, g.weight({in[2], heads * width}, -range, range)});
    y = g.op("Reshape", {y, g.ints({in[0], in[1], heads, width})}, {{"allowzero", int64_t{1}}});
    parts.push_back(g.op("Transpose", {y}, {{"perm", Ints{0, 2, 1, 3}}}));
  }
  Value* scores = g.op("MatMul", {parts[0], swap_last(g, parts[1])});
  scores = g.op("Mul", {scores, g.number(1 / std::sqrt(static_cast<double>(width)))});
  if (g.r.chance(40)) scores = g.op("Add", {scores, g.weight({in[1], in[1]}, -3, 3)});
  Value* y = g.op("MatMul", {g.op("Softmax", {scores}, {{"axis", int64_t{-1}}}), parts[2]});
  y = g.op("Transpose", {y}, {{"perm", Ints{0, 2, 1, 3}}});
  g.hand_on(g.op("Reshape", {y, g.ints({in[0], in[1], heads * width})}, {{"allowzero", int64_t{1}}}));
}

void gated(GrowingNetwork& g) {
  Value* x = g.pick();
  const Shape in = GrowingNetwork::shape(*x);
  if (in.rank() < 2) return;
  const int64_t k = in[in.rank() - 1], n = g.extent();
  Value* a = g.op("MatMul", {x, g.weight({k, n}, -range_of(k), range_of(k))});
  Value* b = g.op("MatMul", {x, g.weight({k, n}, -range_of(k), range_of(k))});
  g.hand_on(g.op("Mul", {g.op("Mul", {a, g.op("Sigmoid", {a})}), b}));
}

void softmax(GrowingNetwork& g) {
  Value* x = g.pick();
  if (GrowingNetwork::shape(*x).rank() == 0) return;
  g.hand_on(g.op(g.r.chance(75) ? "Softmax" : "LogSoftmax", {x},
                 {{"axis", random_axis(g, GrowingNetwork::shape(*x))}}));
}

void layer_norm(GrowingNetwork& g) {
  Value* x = g.pick();
  const Shape in = GrowingNetwork::shape(*x);
  if (in.rank() == 0 || in[in.rank() - 1] == 0) return;
  const int64_t n = in[in.rank() - 1];
  if (g.r.chance(40)) return g.hand_on(g.op("RMSNormalization", {x, g.weight({n})}));
  if (g.r.chance(20)) return g.hand_on(g.op("LpNormalization", {x}, {{"axis", int64_t{-1}}}));
  std::vector<Value*> inputs = {x, g.weight({n})};
  if (g.r.chance(60)) inputs.push_back(g.weight({n}));
  g.hand_on(g.op("LayerNormalization", inputs));
}

void instance_norm(GrowingNetwork& g) {
  Value* x = g.pick();
  const Shape in = GrowingNetwork::shape(*x);
  if (in.rank() < 3 || in.numel() == 0) return;
  if (g.r.chance(50))
    return g.hand_on(g.op("InstanceNormalization", {x, g.weight({in[1]}), g.weight({in[1]})}));
  g.hand_on(g.op("GroupNormalization", {x, g.weight({in[1]}), g.weight({in[1]})},
                 {{"num_groups", g.groups_of(in[1], in[1])}}));
}

void batch_norm(GrowingNetwork& g) {
  Value* x = g.pick();
  const Shape in = GrowingNetwork::shape(*x);
  if (in.rank() < 2) return;
  const Shape c = {in[1]};
  g.hand_on(g.op("BatchNormalization", {x, g.weight(c), g.weight(c), g.weight(c), g.weight(c, 0.1, 2)}));
}

void reduce(GrowingNetwork& g) {
  Value* x = g.pick();
  const Shape in = GrowingNetwork::shape(*x);
  if (in.rank() == 0 || in.numel() == 0) return;
  Ints axes;
  for (int i = 0; i < in.rank(); ++i)
    if (g.r.chance(40)) axes.push_back(static_cast<int64_t>(i));
  if (axes.empty()) axes.push_back(random_axis(g, in));
  g.hand_on(g.op(g.r.one_of({"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceL1",
                             "ReduceSumSquare", "ReduceLogSumExp"}),
                 {x, g.ints(axes)}, {{"keepdims", g.r.between(0, 1)}}));
}

void running_sum(GrowingNetwork& g) {
  Value* x = g.pick();
  if (GrowingNetwork::shape(*x).rank() == 0) return;
  Value* axis = g.model->graph->add_constant(g.model->graph->unique_name("i"),
                                             Tensor::scalar(random_axis(g, GrowingNetwork::shape(*x))));
  g.hand_on(g.op("CumSum", {x, axis}, {{"exclusive", g.r.between(0, 1)}, {"reverse", g.r.between(0, 1)}}));
}

void dft(GrowingNetwork& g) {
  Value* x = g.pick(3);
  if (x == nullptr) return;
  const Shape in = GrowingNetwork::shape(*x);
  if (in.numel() == 0 || in[2] > 2) return;
  Value* axis = g.model->graph->add_constant(g.model->graph->unique_name("i"), Tensor::scalar(int64_t{1}));
  g.hand_on(g.op("DFT", {x, nullptr, axis}, {{"onesided", int64_t{in[2] == 1 && g.r.chance(50)}}}));
}

void recurrent(GrowingNetwork& g) {
  Value* x = g.pick(3);
  if (x == nullptr) return;
  const Shape in = GrowingNetwork::shape(*x);
  if (in.numel() == 0) return;
  const std::string type = g.r.one_of({"LSTM", "GRU", "RNN"});
  const int64_t gates = type == "LSTM"  ? 4
                        : type == "GRU" ? 3
                                        : 1,
                hidden = g.r.one_of({int64_t{1}, int64_t{5}, int64_t{8}, int64_t{17}});
  const bool both = g.r.chance(40);
  const int64_t directions = both ? 2 : 1;
  const double range = range_of(in[2]), again = range_of(hidden);
  std::vector<Value*> inputs = {x, g.weight({directions, gates * hidden, in[2]}, -range, range),
                                g.weight({directions, gates * hidden, hidden}, -again, again)};
  if (g.r.chance(60)) inputs.push_back(g.weight({directions, 2 * gates * hidden}));
  AttributeList attributes = {
      {"hidden_size", hidden},
      {"direction", std::string(both ? "bidirectional" : g.r.one_of({"forward", "reverse"}))}};
  if (type == "GRU") attributes.push_back({"linear_before_reset", g.r.between(0, 1)});
  Value* y = g.op(type, inputs, attributes);
  y = g.op("Transpose", {y}, {{"perm", Ints{0, 2, 1, 3}}});
  g.hand_on(g.op("Reshape", {y, g.ints({in[0], in[1], directions * hidden})}));
}

}  // namespace assay::fuzz::pieces_of
