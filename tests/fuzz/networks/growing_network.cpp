#include "fuzz/networks/growing_network.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "assay/edit.h"
#include "ops/infer.h"

namespace assay::fuzz {

namespace pieces_of {
#define FUZZ_PIECE(name) void name(GrowingNetwork& g);
#include "fuzz/networks/pieces.def"
#undef FUZZ_PIECE
}  // namespace pieces_of

const std::vector<Piece>& pieces() {
  static const std::vector<Piece> list = {
#define FUZZ_PIECE(name) {#name, pieces_of::name},
#include "fuzz/networks/pieces.def"
#undef FUZZ_PIECE
  };
  return list;
}

GrowingNetwork::GrowingNetwork(FedNumbers numbers) : numbers_(numbers) { model->opsets = {{"", 23}}; }

int64_t GrowingNetwork::extent(bool may_be_empty) {
  if (may_be_empty && r.chance(3)) return 0;
  return r.one_of({1, 1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 31, 32, 33, 64});
}

int64_t GrowingNetwork::groups_of(int64_t a, int64_t b) {
  const int64_t common = std::gcd(a, b);
  std::vector<int64_t> choices;
  for (int64_t k = 1; k <= common; ++k)
    if (common % k == 0) choices.push_back(k);
  return choices.empty() ? 1 : r.one_of(choices);
}

Shape GrowingNetwork::shape(const Value& v) { return *known_shape(*v.type.dims); }

void GrowingNetwork::add_input() {
  Shape s;
  const int64_t rank = r.one_of({1, 2, 3, 3, 4, 4, 4, 4, 5});
  do {
    s = {};
    for (int64_t i = 0; i < rank; ++i)
      s.push_back(i == 0 ? (r.chance(5) ? 0 : r.one_of({1, 1, 1, 2, 3, 5})) : extent(i > 1));
  } while (s.numel() > kMaxElements / 4);
  Tensor t = Tensor::allocate(DType::kFloat32, s);
  const double range = r.one_of({0.1, 1.0, 1.0, 4.0, 60.0});
  const auto equal = static_cast<float>(range * 0.3);
  for (float& x : t.mutable_span<float>()) {
    const double unit = static_cast<double>(r.next() >> 11) * 0x1p-53 * 2 - 1;
    x = static_cast<float>(unit * range);
    if (numbers_ == FedNumbers::kSpecial && r.chance(2))
      x = r.one_of({HUGE_VALF, -HUGE_VALF, std::numeric_limits<float>::quiet_NaN()});
    if (numbers_ == FedNumbers::kSpecial && r.chance(2)) x = r.one_of({0.0F, -0.0F});
    if (numbers_ == FedNumbers::kDenormal) x *= 1e-38F;
    if (numbers_ == FedNumbers::kLarge && r.chance(10)) x = static_cast<float>(unit * 1e15);
    if (numbers_ == FedNumbers::kEqual) x = equal;
  }
  feed.push_back(t);
  Dims dims;
  for (const int64_t d : s.dims()) dims.push_back(Dim(d));
  values_.push_back(
      model->graph->add_input("x" + std::to_string(feed.size()), Type::tensor(DType::kFloat32, dims)));
}

Value* GrowingNetwork::pick() {
  const size_t n = values_.size();
  return values_[r.chance(60) ? n - 1 - r.below(std::min<size_t>(n, 2)) : r.below(n)];
}

Value* GrowingNetwork::pick(int rank) {
  std::vector<Value*> list;
  for (Value* v : values_)
    if (shape(*v).rank() == rank) list.push_back(v);
  if (list.empty()) return nullptr;
  return list[r.chance(60) ? list.size() - 1 : r.below(list.size())];
}

Value* GrowingNetwork::pick_like(const Value& other) {
  std::vector<Value*> list;
  for (Value* v : values_)
    if (v != &other && shape(*v) == shape(other)) list.push_back(v);
  return list.empty() ? nullptr : r.one_of(list);
}

Value* GrowingNetwork::op(std::string type, std::vector<Value*> inputs, AttributeList attributes) {
  return ops(std::move(type), std::move(inputs), 1, std::move(attributes))[0];
}

std::vector<Value*> GrowingNetwork::ops(std::string type, std::vector<Value*> inputs, size_t outputs,
                                        AttributeList attributes) {
  const LayerArguments arguments(inputs.begin(), inputs.end());
  const LayerArguments names(outputs, LayerArgument("y"));
  const auto made =
      layer(*model->graph, std::move(type), arguments, names, {.attributes = std::move(attributes)});
  infer_shapes(*model);
  return made;
}

Value* GrowingNetwork::weight(const Shape& s, double low, double high) {
  Tensor t = Tensor::allocate(DType::kFloat32, s);
  for (float& x : t.mutable_span<float>())
    x = static_cast<float>(low + (high - low) * static_cast<double>(r.next() >> 11) * 0x1p-53);
  return model->graph->add_constant(model->graph->unique_name("w"), t);
}

Value* GrowingNetwork::ints(Ints values) {
  return model->graph->add_constant(model->graph->unique_name("i"), Tensor::vector<int64_t>(values));
}

Value* GrowingNetwork::number(double x) {
  return model->graph->add_constant(model->graph->unique_name("s"),
                                    Tensor::vector<float>({static_cast<float>(x)}).reshaped(Shape{}));
}

void GrowingNetwork::hand_on(Value* v) {
  if (v->type.dtype != DType::kFloat32 || !v->type.dims) return;
  const auto known = known_shape(*v->type.dims);
  if (known && known->numel() <= kMaxElements) values_.push_back(v);
}

void GrowingNetwork::finish() {
  Graph& graph = *model->graph;
  for (const auto& node : graph.nodes())
    for (Value* v : node->outputs())
      if (v != nullptr && v->consumers().empty()) graph.outputs.push_back(v);
  infer_shapes(*model);
}

}  // namespace assay::fuzz
