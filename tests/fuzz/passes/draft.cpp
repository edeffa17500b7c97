#include "fuzz/passes/draft.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/import.h"
#include "tensor/convert.h"

namespace assay::fuzz {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double largest(DType t) {
  switch (t) {
    case DType::kFloat16:
      return 65504;
    case DType::kFloat64:
      return 1e308;
    default:
      return 3e38;
  }
}

double smallest(DType t) {
  switch (t) {
    case DType::kFloat16:
      return 0x1p-14;
    case DType::kFloat64:
      return 0x1p-1022;
    default:
      return 0x1p-126;
  }
}

}  // namespace

Draft::Draft(uint64_t seed) : r(seed), model_(std::make_shared<Model>()) {
  model_->ir_version = 8;
  model_->graph = std::make_unique<Graph>();
  model_->graph->name = "g";
}

void Draft::parse(const std::string& text) {
  model_ = parse_text(
      "<ir_version: 8, opset_import: [\"\" : " + std::to_string(opset) + ", \"local\" : 1]>\n" + text,
      "drawn");
}

std::shared_ptr<Model> Draft::take() {
  if (!model_->opsets.empty()) return model_;
  model_->opsets = {{"", opset}, {"com.microsoft", 1}};
  return model_;
}

double Draft::largest_input() const {
  double largest = 0;
  for (const Tensor& t : feed_) {
    if (!is_float(t.dtype())) continue;
    const Tensor wide = to_float64(t);
    for (const double x : wide.span<double>())
      if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
  }
  return largest;
}

double Draft::draw(DType dtype, Numbers numbers) {
  if (dtype == DType::kBool) return static_cast<double>(r.below(2));
  const double plain = static_cast<double>(r.between(-4096, 4096)) / 1024;
  if (numbers == Numbers::kAny)
    numbers = r.one_of({Numbers::kPlain, Numbers::kPlain, Numbers::kWhole, Numbers::kSpecial, Numbers::kLarge,
                        Numbers::kTiny});
  if (!is_float(dtype)) {
    if (numbers == Numbers::kLarge || numbers == Numbers::kSpecial)
      return r.one_of(
          {0x1p31, -0x1p31, 0x1p31 - 1, 0x1p62, -0x1p62, 255.0, 128.0, -129.0, 0x1p15, 0x1p16 - 1});
    return static_cast<double>(r.between(-9, 9));
  }
  if (!seen_.empty() && r.chance(12)) {
    const double c = r.one_of(seen_);
    return r.one_of({c, -c, c * (1 + 0x1p-10), -c * (1 - 0x1p-23), c / 2, c + plain, -c + plain});
  }
  switch (numbers) {
    case Numbers::kWhole:
      return static_cast<double>(r.between(-4, 4));
    case Numbers::kLarge:
      return largest(dtype) * plain / 4 * std::ldexp(1, -static_cast<int>(r.below(24)));
    case Numbers::kTiny:
      return smallest(dtype) * plain * std::ldexp(1, static_cast<int>(r.below(20)) - 10);
    case Numbers::kSpecial:
      return r.one_of({0.0, -0.0, kInfinity, -kInfinity, std::nan(""), 1.0, -1.0});
    default:
      return plain;
  }
}

Tensor Draft::tensor(DType dtype, const Shape& shape, Numbers numbers) {
  // Most tensors hold numbers of one kind, some a mixture.
  if (numbers == Numbers::kAny && r.chance(70))
    numbers = r.one_of({Numbers::kPlain, Numbers::kPlain, Numbers::kWhole, Numbers::kLarge, Numbers::kTiny});
  if (dtype == DType::kInt64 || dtype == DType::kUInt64) {
    Tensor t = Tensor::allocate(DType::kInt64, shape);
    for (int64_t& x : t.mutable_span<int64_t>()) x = static_cast<int64_t>(draw(dtype, numbers));
    return convert(t, dtype);
  }
  Tensor t = Tensor::allocate(DType::kFloat64, shape);
  for (double& x : t.mutable_span<double>()) x = draw(dtype, numbers);
  return convert(t, dtype);
}

Shape Draft::shape(int rank, int64_t least, int64_t most) {
  Shape s;
  for (int d = 0; d < rank; ++d)
    s.push_back(r.chance(3) ? least - (least > 0 && r.chance(50)) : r.between(least, most));
  return s;
}

Shape Draft::single() {
  return r.chance(70) ? Shape{} : r.chance(60) ? Shape{1} : r.chance(50) ? Shape{1, 1} : Shape{1, 1, 1};
}

double Draft::nearly(double a) {
  if (r.chance(94)) return a;
  return r.one_of({a * (1 + 1e-6), a * 2, -a, a + 1, 0.0, a * 1.001});
}

Value* Draft::input(Tensor fed, bool may_be_open) {
  Dims dims;
  const bool open = may_be_open && r.chance(35);
  for (const int64_t d : fed.shape())
    dims.push_back(open && d > 0 && r.chance(60) ? Dim::symbol("n" + std::to_string(d)) : Dim(d));
  Value* v =
      graph().add_value("x" + std::to_string(feed_.size()), Type::tensor(fed.dtype(), std::move(dims)));
  graph().inputs.push_back(v);
  feed_.push_back(std::move(fed));
  return v;
}

Value* Draft::input(DType dtype, const Shape& shape, Numbers numbers, bool may_be_open) {
  return input(tensor(dtype, shape, numbers), may_be_open);
}

Value* Draft::constant(Tensor t) {
  if (is_float(t.dtype()) && seen_.size() < 16) {
    const Tensor wide = to_float64(t);
    for (const double x : wide.span<double>().first(std::min<size_t>(wide.span<double>().size(), 4)))
      if (std::isfinite(x)) seen_.push_back(x);
  }
  return graph().add_constant("c" + std::to_string(names_++), std::move(t));
}

Value* Draft::constant(DType dtype, const Shape& shape, Numbers numbers) {
  return constant(tensor(dtype, shape, numbers));
}

Value* Draft::number(DType dtype, double x, const Shape& shape) {
  Tensor t = Tensor::allocate(DType::kFloat64, shape);
  std::fill_n(t.mutable_data<double>(), t.numel(), x);
  return constant(convert(t, dtype));
}

Value* Draft::ints(const std::vector<int64_t>& list) {
  return graph().add_constant("c" + std::to_string(names_++), Tensor::vector(list));
}

std::vector<Value*> Draft::nodes(std::string op, std::vector<Value*> inputs, AttributeList attributes,
                                 size_t outputs, std::string domain) {
  std::vector<Value*> made;
  for (size_t i = 0; i < outputs; ++i) made.push_back(graph().add_value("v" + std::to_string(names_++)));
  graph().add_node(std::move(op), std::move(inputs), made, std::move(attributes),
                   "n" + std::to_string(names_++), std::move(domain));
  return made;
}

Value* Draft::node(std::string op, std::vector<Value*> inputs, AttributeList attributes, std::string domain) {
  return nodes(std::move(op), std::move(inputs), std::move(attributes), 1, std::move(domain))[0];
}

std::vector<int64_t> Draft::axes(int rank) {
  std::vector<int64_t> list;
  for (int64_t a = 0; a < rank; ++a)
    if (r.chance(45)) list.push_back(r.chance(70) ? a : a - rank);
  if (list.empty() && rank > 0) list.push_back(static_cast<int64_t>(r.below(static_cast<size_t>(rank))));
  if (list.size() > 1 && r.chance(10)) std::swap(list.front(), list.back());
  return list;
}

Value* Draft::reduce(const std::string& op, Value* x, const std::vector<int64_t>& axes, bool keeps) {
  AttributeList attributes;
  if (!keeps || r.chance(50)) attributes.emplace_back("keepdims", int64_t{keeps});
  std::vector<Value*> inputs = {x};
  if (opset >= (op == "ReduceSum" ? 13 : 18)) {
    if (!axes.empty()) inputs.push_back(ints(axes));
    if (r.chance(5)) attributes.emplace_back("noop_with_empty_axes", int64_t{1});
  } else if (!axes.empty()) {
    attributes.emplace_back("axes", axes);
  }
  return node(op, std::move(inputs), std::move(attributes));
}

Value* Draft::follow(Value* x) {
  if (!r.chance(25)) return x;
  return node(r.one_of({"Neg", "Abs", "Relu", "Identity"}), {x});
}

DType some_float(Random& r) {
  return r.one_of({DType::kFloat32, DType::kFloat32, DType::kFloat32, DType::kFloat16, DType::kFloat64,
                   DType::kBFloat16});
}

DType some_integer(Random& r) {
  return r.one_of({DType::kInt64, DType::kInt32, DType::kInt32, DType::kInt8, DType::kUInt8, DType::kInt16,
                   DType::kUInt32, DType::kUInt64});
}

}  // namespace assay::fuzz
