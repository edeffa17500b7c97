#include "fuzz/valid/draft.h"

#include <algorithm>
#include <cmath>

#include "ops/value_type.h"
#include "tensor/convert.h"

namespace assay::fuzz {
namespace {

/// Types that every backend has kernels for come first, so that most cases run.
constexpr DType kCommon[] = {DType::kFloat32, DType::kFloat32, DType::kFloat32, DType::kFloat32,
                             DType::kInt64,   DType::kInt32,   DType::kFloat64, DType::kFloat16,
                             DType::kUInt8,   DType::kInt8,    DType::kBool,    DType::kString};

/// The element types among types as schemas write them.
std::vector<DType> tensor_types(const std::vector<std::string>& names) {
  std::vector<DType> types;
  for (std::string_view name : names) {
    if (name.starts_with("tensor(")) name = name.substr(7, name.size() - 8);
    if (const auto t = dtype_from_name(name); t && !is_container(*t)) types.push_back(*t);
  }
  return types;
}

bool contains(const std::vector<DType>& types, DType t) {
  return std::find(types.begin(), types.end(), t) != types.end();
}

Tensor random_words(const Shape& shape, Random& r) {
  Tensor t = Tensor::allocate(DType::kString, shape);
  for (std::string& s : t.mutable_span<std::string>())
    s = r.one_of({"", "a", "b", "ab", "a b", "Straße", "x,y,z", "12", "-3.5", "été", "a"});
  return t;
}

/// The part of [low, high] that a type can hold.
int64_t least(DType t, int64_t low) {
  if (t == DType::kBool || (is_integer(t) && !is_signed_integer(t))) return std::max<int64_t>(low, 0);
  return t == DType::kInt2 ? std::max<int64_t>(low, -2) : low;
}
int64_t largest(DType t, int64_t high) {
  if (t == DType::kBool || t == DType::kInt2) return std::min<int64_t>(high, 1);
  if (t == DType::kUInt2) return std::min<int64_t>(high, 3);
  return t == DType::kInt4 ? std::min<int64_t>(high, 7) : high;
}

}  // namespace

Draft::Draft(const OpDef& op, const OpVersion& version, Random& random)
    : r(random), op(op), schema(schema_of(version)), since(version.since), version_(version) {
  given_.resize(schema.inputs.size());
}

size_t Draft::index_of(std::string_view input) const {
  for (size_t i = 0; i < schema.inputs.size(); ++i)
    if (schema.inputs[i].name == input) return i;
  return schema.inputs.size();
}

bool Draft::has_input(std::string_view name) const { return index_of(name) < schema.inputs.size(); }

bool Draft::choose(std::string_view constraint, const std::vector<DType>& types) {
  std::vector<DType> allowed = tensor_types({std::string(constraint)});
  for (const TypeConstraint& c : schema.constraints)
    if (c.name == constraint) allowed = tensor_types(c.types);
  std::vector<DType> candidates;
  for (const DType t : types)
    if (contains(allowed, t)) candidates.push_back(t);
  if (candidates.empty()) return false;
  bound_.insert_or_assign(std::string(constraint), r.one_of(candidates));
  return true;
}

DType Draft::dtype(std::string_view constraint) {
  if (const auto found = bound_.find(constraint); found != bound_.end()) return found->second;
  if (!r.chance(80) || !choose(constraint, {std::begin(kCommon), std::end(kCommon)})) {
    std::vector<DType> all;
    for (int t = 1; t < kDTypeCount; ++t) all.push_back(static_cast<DType>(t));
    if (!choose(constraint, all)) return DType::kUndefined;
  }
  return bound_.find(constraint)->second;
}

DType Draft::input_dtype(std::string_view name) {
  const size_t i = index_of(name);
  return i < schema.inputs.size() ? dtype(schema.inputs[i].type) : DType::kUndefined;
}

void Draft::input(std::string_view name, Tensor value) {
  const size_t i = index_of(name);
  if (i < given_.size()) given_[i] = std::move(value);
}

void Draft::input(std::string_view name, const Shape& shape, double low, double high) {
  if (has_input(name)) input(name, values(input_dtype(name), shape, low, high));
}

void Draft::maybe_input(std::string_view name, const Shape& shape, int percent, double low, double high) {
  if (r.chance(percent)) input(name, shape, low, high);
}

void Draft::attr(std::string_view name, Attribute::Data value) {
  if (!has_attr(name)) return;
  std::erase_if(attributes_, [&](const auto& a) { return a.first == name; });
  attributes_.emplace_back(std::string(name), std::move(value));
}

void Draft::word(std::string_view name, const std::vector<std::string>& words) {
  if (r.chance(80)) attr(name, r.one_of(words));
}

void Draft::number(std::string_view name, double low, double high) {
  if (r.chance(70)) attr(name, static_cast<float>(values(DType::kFloat32, {}, low, high).item<float>()));
}

void Draft::ints(std::string_view name, std::vector<int64_t> list) {
  if (!has_input(name)) return attr(name, std::move(list));
  input(name, convert(Tensor::vector(list), input_dtype(name)));
}

void Draft::integer(std::string_view name, int64_t value, int rank) {
  if (!has_input(name)) return attr(name, value);
  const Tensor t = Tensor::from<int64_t>(rank == 0 ? Shape{} : Shape{1}, std::vector<int64_t>{value});
  input(name, convert(t, input_dtype(name)));
}

Tensor Draft::values(DType dtype, const Shape& shape, double low, double high) {
  if (dtype == DType::kString) return random_words(shape, r);
  if (is_complex(dtype)) {
    Shape parts = shape;
    parts.push_back(2);
    const Tensor t = values(dtype == DType::kComplex64 ? DType::kFloat32 : DType::kFloat64, parts, low, high);
    return Tensor::view(dtype, shape, t.data(), std::make_shared<Tensor>(t));
  }
  if (is_integer(dtype) || dtype == DType::kBool)
    return integers(dtype, shape, static_cast<int64_t>(std::ceil(low)),
                    static_cast<int64_t>(std::floor(high)));
  Tensor t = Tensor::allocate(DType::kFloat64, shape);
  const bool quarters = r.chance(40);
  for (double& x : t.mutable_span<double>()) {
    if (quarters)
      x = static_cast<double>(r.between(static_cast<int64_t>(std::ceil(low * 4)),
                                        static_cast<int64_t>(std::floor(high * 4)))) /
          4;
    else
      x = low + (high - low) * static_cast<double>(r.next() >> 11) * 0x1p-53;
  }
  return convert(t, dtype);
}

Tensor Draft::integers(DType dtype, const Shape& shape, int64_t low, int64_t high) {
  Tensor t = Tensor::allocate(DType::kInt64, shape);
  low = least(dtype, low);
  high = std::max(low, largest(dtype, high));
  for (int64_t& x : t.mutable_span<int64_t>()) x = r.between(low, high);
  return convert(t, dtype);
}

int64_t Draft::extent() { return r.chance(2) ? 0 : r.one_of({1, 1, 2, 2, 3, 4, 5, 7}); }

Shape Draft::shape(int least_rank, int most_rank) {
  Shape s;
  for (int64_t n = r.between(least_rank, most_rank); n > 0; --n) s.push_back(extent());
  return s;
}

Shape Draft::positive_shape(int least_rank, int most_rank) {
  Shape s = shape(least_rank, most_rank);
  for (int64_t& d : s) d = std::max<int64_t>(d, 1);
  return s;
}

Shape Draft::broadcast_to(const Shape& shape) {
  Shape s = shape;
  if (r.chance(40)) return s;
  for (int64_t& d : s)
    if (r.chance(40)) d = 1;
  while (!s.empty() && r.chance(30)) s.erase_at(0);
  return s;
}

int64_t Draft::axis(int rank, int negative_since) {
  const int64_t a = static_cast<int64_t>(r.below(static_cast<size_t>(rank)));
  return since >= negative_since && r.chance(40) ? a - rank : a;
}

std::vector<int64_t> Draft::axes(int rank, int negative_since) {
  std::vector<int64_t> all;
  for (int64_t a = 0; a < rank; ++a) {
    if (!r.chance(50)) continue;
    all.insert(all.begin() + static_cast<std::ptrdiff_t>(since >= negative_since ? r.below(all.size() + 1)
                                                                                 : all.size()),
               since >= negative_since && r.chance(30) ? a - rank : a);
  }
  return all;
}

Case Draft::finish(const Shape& base) {
  Case out{.model = std::make_shared<Model>(), .feed = {}};
  out.model->opsets = {{std::string(op.domain), since}};
  if (!op.domain.empty()) out.model->opsets.push_back({"", standard_opset});
  Graph& g = *out.model->graph;
  for (size_t i = 0; i < given_.size(); ++i) {
    const Parameter& p = schema.inputs[i];
    if (!given_[i].defined() && p.option == Parameter::Option::kSingle) input(p.name, broadcast_to(base));
  }
  if (!more_.empty() && !given_.empty()) given_.pop_back();
  given_.insert(given_.end(), more_.begin(), more_.end());
  while (!given_.empty() && !given_.back().defined()) given_.pop_back();
  std::vector<Value*> inputs;
  for (size_t i = 0; i < given_.size(); ++i) {
    const Tensor& value = given_[i];
    const std::string name = "in" + std::to_string(i);
    if (!value.defined()) {
      inputs.push_back(nullptr);
    } else if (r.chance(25) && !value.is_container()) {
      inputs.push_back(g.add_constant(name, value));
    } else {
      Type type = type_of(value);
      if (r.chance(20)) type = without_dims(type);
      inputs.push_back(g.add_input(name, type));
      out.feed.push_back(value);
    }
  }
  if (outputs < 0) {
    const int most = std::min(schema.max_outputs(), std::max(1, schema.min_outputs()) + 4);
    outputs = static_cast<int>(r.between(std::max(1, schema.min_outputs()), most));
  }
  std::vector<Value*> results;
  for (int i = 0; i < outputs; ++i) results.push_back(g.add_value("out" + std::to_string(i)));
  g.add_node(std::string(op.name), inputs, results, std::move(attributes_), {}, std::string(op.domain));
  g.outputs = std::move(results);
  return out;
}

}  // namespace assay::fuzz
