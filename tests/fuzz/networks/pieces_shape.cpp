// Pieces that move elements, and those that select them.
#include <algorithm>
#include <numeric>

#include "fuzz/networks/growing_network.h"

namespace assay::fuzz::pieces_of {
namespace {

using Ints = GrowingNetwork::Ints;

int64_t any_axis(GrowingNetwork& g, const Shape& s) { return static_cast<int64_t>(g.r.below(s.rank())); }

Tensor random_indices(GrowingNetwork& g, const Shape& shape, int64_t extent) {
  Tensor t = Tensor::allocate(DType::kInt64, shape);
  for (int64_t& i : t.mutable_span<int64_t>()) i = g.r.between(g.r.chance(20) ? -extent : 0, extent - 1);
  return t;
}

Value* constant(GrowingNetwork& g, Tensor t) {
  return g.model->graph->add_constant(g.model->graph->unique_name("i"), std::move(t));
}

}  // namespace

void concat(GrowingNetwork& g) {
  Value* x = g.pick();
  if (GrowingNetwork::shape(*x).rank() == 0) return;
  std::vector<Value*> inputs = {x};
  for (int64_t n = g.r.between(1, 3); n > 0; --n) {
    Value* other = g.pick_like(*x);
    inputs.push_back(other != nullptr ? other : g.op(g.r.one_of({"Relu", "Neg", "Identity"}), {x}));
  }
  g.hand_on(g.op("Concat", inputs, {{"axis", any_axis(g, GrowingNetwork::shape(*x))}}));
}

void split(GrowingNetwork& g) {
  Value* x = g.pick();
  const Shape in = GrowingNetwork::shape(*x);
  if (in.rank() == 0) return;
  const int64_t axis = any_axis(g, in), extent = in[static_cast<size_t>(axis)];
  if (extent < 2) return;
  const int64_t first = g.r.chance(40) ? extent / 2 : g.r.between(0, extent);
  for (Value* y : g.ops("Split", {x, g.ints({first, extent - first})}, 2, {{"axis", axis}})) g.hand_on(y);
}

void slice(GrowingNetwork& g) {
  Value* x = g.pick();
  const Shape in = GrowingNetwork::shape(*x);
  if (in.rank() == 0) return;
  const int64_t axis = any_axis(g, in), extent = in[static_cast<size_t>(axis)];
  if (extent < 2) return;
  const int64_t step = g.r.one_of({int64_t{1}, int64_t{1}, int64_t{2}, int64_t{3}, int64_t{-1}, int64_t{-2}});
  const int64_t begin = step > 0 ? g.r.between(0, extent / 2) : g.r.between(extent / 2, extent - 1);
  const int64_t end =
      step > 0 ? g.r.between(begin + 1, extent) : g.r.between(-extent - 1, begin - extent - 1);
  g.hand_on(g.op("Slice", {x, g.ints({begin}), g.ints({end}), g.ints({axis}), g.ints({step})}));
}

void transpose(GrowingNetwork& g) {
  Value* x = g.pick();
  Ints perm(GrowingNetwork::shape(*x).rank());
  std::iota(perm.begin(), perm.end(), 0);
  for (size_t i = perm.size(); i > 1; --i) std::swap(perm[i - 1], perm[g.r.below(i)]);
  g.hand_on(g.op("Transpose", {x}, {{"perm", perm}}));
}

void reshape(GrowingNetwork& g) {
  Value* x = g.pick();
  const Shape in = GrowingNetwork::shape(*x);
  if (in.numel() == 0) return;
  Ints to;
  int64_t left = in.numel();
  for (int64_t n = g.r.between(0, 4); n > 0; --n) {
    const int64_t part = g.groups_of(left, left);
    to.push_back(part);
    left /= part;
  }
  to.insert(to.begin() + static_cast<int64_t>(g.r.below(to.size() + 1)), left);
  g.hand_on(g.op("Reshape", {x, g.ints(to)}));
}

void pad(GrowingNetwork& g) {
  Value* x = g.pick();
  const Shape in = GrowingNetwork::shape(*x);
  if (in.rank() == 0 || in.numel() == 0) return;
  const std::string mode = g.r.one_of({"constant", "reflect", "edge", "wrap"});
  Ints pads(2 * in.rank());
  for (size_t i = 0; i < pads.size(); ++i) {
    const int64_t extent = in[i % in.rank()];
    const int64_t most = mode == "reflect" ? extent - 1 : mode == "wrap" ? extent : 3;
    if (g.r.chance(50)) pads[i] = g.r.between(0, std::min<int64_t>(3, most));
    if (mode == "constant" && g.r.chance(10) && extent > 4) pads[i] = -1;
  }
  g.hand_on(g.op("Pad", {x, g.ints(pads)}, {{"mode", mode}}));
}

void gather(GrowingNetwork& g) {
  Value* x = g.pick();
  const Shape in = GrowingNetwork::shape(*x);
  if (in.rank() == 0) return;
  const int64_t axis = any_axis(g, in), extent = in[static_cast<size_t>(axis)];
  if (extent == 0) return;
  const Shape shape = g.r.chance(20) ? Shape{} : g.r.chance(20) ? Shape{2, 3} : Shape{g.extent(true)};
  g.hand_on(g.op("Gather", {x, constant(g, random_indices(g, shape, extent))}, {{"axis", axis}}));
}

void gather_elements(GrowingNetwork& g) {
  Value* x = g.pick();
  const Shape in = GrowingNetwork::shape(*x);
  if (in.rank() == 0) return;
  const int64_t axis = any_axis(g, in), extent = in[static_cast<size_t>(axis)];
  if (extent == 0) return;
  Ints dims = in.dims();
  dims[static_cast<size_t>(axis)] = g.r.between(1, 9);
  g.hand_on(
      g.op("GatherElements", {x, constant(g, random_indices(g, Shape(dims), extent))}, {{"axis", axis}}));
}

void scatter(GrowingNetwork& g) {
  Value* x = g.pick();
  const Shape in = GrowingNetwork::shape(*x);
  if (in.rank() == 0 || in[0] == 0) return;
  Ints dims = in.dims();
  const int64_t rows = g.r.between(1, in[0]);
  Tensor rows_at = Tensor::allocate(DType::kInt64, Shape{rows, 1});
  for (int64_t i = 0; i < rows; ++i) rows_at.mutable_data<int64_t>()[i] = in[0] - 1 - i;
  dims[0] = rows;
  g.hand_on(g.op("ScatterND", {x, constant(g, rows_at), g.weight(Shape(dims))}));
}

void expand(GrowingNetwork& g) {
  Value* x = g.pick();
  const Shape in = GrowingNetwork::shape(*x);
  if (in.rank() == 0 || in.numel() > 4096) return;
  Ints dims = in.dims();
  if (g.r.chance(50)) {
    for (int64_t& d : dims)
      if (d == 1) d = g.r.between(1, 5);
    return g.hand_on(g.op("Expand", {x, g.ints(dims)}));
  }
  for (int64_t& d : dims) d = g.r.between(1, 2);
  g.hand_on(g.op("Tile", {x, g.ints(dims)}));
}

void trilu(GrowingNetwork& g) {
  Value* x = g.pick();
  if (GrowingNetwork::shape(*x).rank() < 2) return;
  g.hand_on(
      g.op("Trilu", {x, constant(g, Tensor::scalar(g.r.between(-3, 3)))}, {{"upper", g.r.between(0, 1)}}));
}

void reverse_sequence(GrowingNetwork& g) {
  Value* x = g.pick();
  const Shape in = GrowingNetwork::shape(*x);
  if (in.rank() < 2 || in.numel() == 0) return;
  Ints lengths;
  const bool batch_first = g.r.chance(50);
  for (int64_t i = 0; i < in[batch_first ? 0 : 1]; ++i)
    lengths.push_back(g.r.between(1, in[batch_first ? 1 : 0]));
  g.hand_on(
      g.op("ReverseSequence", {x, g.ints(lengths)},
           {{"batch_axis", int64_t{batch_first ? 0 : 1}}, {"time_axis", int64_t{batch_first ? 1 : 0}}}));
}

void top_k(GrowingNetwork& g) {
  Value* x = g.pick();
  const Shape in = GrowingNetwork::shape(*x);
  if (in.rank() == 0) return;
  const int64_t axis = any_axis(g, in);
  const int64_t k = g.r.between(0, in[static_cast<size_t>(axis)]);
  const std::vector<Value*> y =
      g.ops("TopK", {x, g.ints({k})}, 2, {{"axis", axis}, {"largest", g.r.between(0, 1)}});
  g.hand_on(y[0]);
}

void places_of_extremes(GrowingNetwork& g) {
  Value* x = g.pick();
  const Shape in = GrowingNetwork::shape(*x);
  if (in.rank() == 0 || in.numel() == 0) return;
  g.op(
      g.r.one_of({"ArgMax", "ArgMin"}), {x},
      {{"axis", any_axis(g, in)}, {"keepdims", g.r.between(0, 1)}, {"select_last_index", g.r.between(0, 1)}});
}

}  // namespace assay::fuzz::pieces_of
