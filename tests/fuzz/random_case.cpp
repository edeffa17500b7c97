#include "fuzz/random_case.h"

#include <algorithm>
#include <limits>
#include <map>

#include "ops/schema.h"
#include "ops/value_type.h"
#include "tensor/convert.h"

namespace assay::fuzz {
namespace {

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max(), kMin = std::numeric_limits<int64_t>::min();

/// Words that attributes of some operator take.
const std::vector<std::string>& words() {
  static const std::vector<std::string> kWords = {"NOTSET",
                                                  "SAME_UPPER",
                                                  "SAME_LOWER",
                                                  "VALID",
                                                  "constant",
                                                  "reflect",
                                                  "edge",
                                                  "wrap",
                                                  "nearest",
                                                  "linear",
                                                  "cubic",
                                                  "bilinear",
                                                  "bicubic",
                                                  "zeros",
                                                  "border",
                                                  "reflection",
                                                  "forward",
                                                  "reverse",
                                                  "bidirectional",
                                                  "Tanh",
                                                  "Sigmoid",
                                                  "Relu",
                                                  "Affine",
                                                  "none",
                                                  "tanh",
                                                  "add",
                                                  "mul",
                                                  "max",
                                                  "min",
                                                  "mean",
                                                  "sum",
                                                  "avg",
                                                  "max",
                                                  "DCR",
                                                  "CRD",
                                                  "LEFT",
                                                  "RIGHT",
                                                  "up",
                                                  "down",
                                                  "floor",
                                                  "ceil",
                                                  "half_pixel",
                                                  "asymmetric",
                                                  "align_corners",
                                                  "stretch",
                                                  "not_larger",
                                                  "ij,jk->ik",
                                                  "...i->...",
                                                  "ii->i",
                                                  "L1",
                                                  "L2",
                                                  "MAX",
                                                  "SOFTMAX",
                                                  "LOGISTIC",
                                                  "TF",
                                                  "IDF",
                                                  "TFIDF",
                                                  "UPPER",
                                                  "LOWER",
                                                  "linear",
                                                  "circular",
                                                  "a+",
                                                  "BRANCH_LEQ",
                                                  "LEAF",
                                                  "RBF",
                                                  "LINEAR",
                                                  "POLY",
                                                  "SUM",
                                                  "",
                                                  "?",
                                                  "FLOAT",
                                                  "1e999"};
  return kWords;
}

int64_t small_extent(Random& r) { return r.one_of({1, 1, 2, 2, 3, 4, 5, 0}); }

Shape random_shape(Random& r) {
  Shape shape;
  for (size_t n = r.below(r.chance(80) ? 5 : 7); n > 0; --n) shape.push_back(small_extent(r));
  return shape;
}

/// A shape that has something to do with the others.
Shape related_shape(const Shape& base, Random& r) {
  Shape shape = base;
  switch (r.below(9)) {
    case 0:
      for (int64_t& d : shape)
        if (r.chance(50)) d = 1;
      return shape;
    case 1:
      if (!shape.empty()) shape.erase_at(0);
      return shape;
    case 2:
      return shape.empty() ? Shape{1} : Shape{shape[r.below(shape.size())]};
    case 3:
      return {};
    case 4:
      return {static_cast<int64_t>(base.size())};
    case 5:
      return random_shape(r);
    default:
      return shape;
  }
}

bool holds_numbers_about_shapes(std::string_view name) {
  for (const char* word :
       {"shape", "axes", "axis",   "pads",  "repeats", "indices",    "split", "starts",   "ends", "steps",
        "sizes", "k",    "scales", "depth", "M",       "dft_length", "size",  "position", "lens", "crop"})
    if (name.find(word) != std::string_view::npos) return true;
  return false;
}

double random_number(Random& r) {
  if (!r.chance(20)) return static_cast<double>(r.between(-8, 8)) / (r.chance(50) ? 1 : 4);
  return r.one_of({0.0, -0.0, 1e30, -1e30, 1e-30, 65504.0, std::numeric_limits<double>::infinity(),
                   -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()});
}

Tensor random_tensor(DType dtype, const Shape& shape, Random& r) {
  if (dtype == DType::kString) {
    Tensor t = Tensor::allocate(dtype, shape);
    for (std::string& s : t.mutable_span<std::string>()) s = r.one_of(words());
    return t;
  }
  if (is_complex(dtype)) return Tensor::zeros(dtype, shape);
  if (dtype == DType::kInt64 || dtype == DType::kUInt64) {
    Tensor t = Tensor::allocate(dtype, shape);
    auto* data = static_cast<int64_t*>(t.mutable_data());
    for (int64_t i = 0; i < t.numel(); ++i) data[i] = r.chance(15) ? random_integer(r) : r.between(-2, 5);
    return t;
  }
  Tensor t = Tensor::allocate(DType::kFloat64, shape);
  for (double& x : t.mutable_span<double>()) x = random_number(r);
  return convert(t, dtype);
}

/// The text between `prefix` and the last parenthesis.
std::string inner(const std::string& type, size_t prefix) {
  return type.substr(prefix, type.size() - prefix - 1);
}

/// `float` of `tensor(float)`.
std::string bare(const std::string& type) { return type.starts_with("tensor(") ? inner(type, 7) : type; }

/// A subgraph that hands some of its inputs out.
std::shared_ptr<Graph> random_graph(Random& r) {
  auto g = std::make_shared<Graph>();
  const size_t inputs = r.below(5), outputs = r.below(4);
  for (size_t i = 0; i < inputs; ++i) g->add_input("in" + std::to_string(i), Type());
  Value* constant = g->add_constant("truth", Tensor::scalar(r.chance(50)));
  for (size_t i = 0; i < outputs; ++i) {
    Value* from = inputs == 0 || r.chance(20) ? constant : g->inputs[r.below(inputs)];
    Value* out = g->add_value("out" + std::to_string(i));
    g->add_node(r.chance(70) ? "Identity" : "Shape", {from}, {out});
    g->outputs.push_back(out);
  }
  return g;
}

template <typename T, typename F>
std::vector<T> random_list(Random& r, F item) {
  std::vector<T> list(r.below(r.chance(90) ? 5 : 9));
  for (T& x : list) x = item();
  return list;
}

/// How many of a list of parameters to give: mostly what the schema allows.
size_t random_count(int least, int most, Random& r) {
  const int64_t high = most > least + 4 ? least + 3 : most;
  if (!r.chance(10)) return static_cast<size_t>(r.between(least, high));
  return static_cast<size_t>(std::max<int64_t>(0, r.between(least - 1, high + 1)));
}

}  // namespace

int64_t random_integer(Random& r) {
  if (!r.chance(25)) return r.between(-3, 6);
  return r.one_of({int64_t{100}, int64_t{-100}, int64_t{1} << 20, int64_t{1} << 31, int64_t{1} << 40,
                   -(int64_t{1} << 31), -(int64_t{1} << 40), kLargest, kLargest - 1, kMin, kMin + 1});
}

Tensor random_value(const std::string& type, const Shape& shape, Random& r) {
  if (type.starts_with("seq(")) {
    std::vector<Tensor> elements;
    for (size_t n = r.below(4); n > 0; --n)
      elements.push_back(random_value(inner(type, 4), r.chance(60) ? shape : random_shape(r), r));
    return Tensor::sequence(std::move(elements));
  }
  if (type.starts_with("optional("))
    return Tensor::optional(r.chance(30) ? Tensor() : random_value(inner(type, 9), shape, r));
  if (type.starts_with("map(")) {
    const size_t comma = type.find(',');
    const Shape length = {small_extent(r)};
    const std::string key = type.substr(4, comma - 4),
                      value = bare(inner(type, type.find_first_not_of(' ', comma + 1)));
    return Tensor::map(random_value(key, length, r), random_value(value, length, r));
  }
  return random_tensor(dtype_from_name(bare(type)).value_or(DType::kFloat32), shape, r);
}

Attribute::Data random_attribute(const std::string& kind, Random& r) {
  if (kind == "int") return r.chance(50) ? r.between(0, 2) : random_integer(r);
  if (kind == "float") return static_cast<float>(random_number(r));
  if (kind == "string") return r.one_of(words());
  if (kind == "ints")
    return random_list<int64_t>(r, [&] { return r.chance(20) ? random_integer(r) : r.between(0, 3); });
  if (kind == "floats") return random_list<float>(r, [&] { return static_cast<float>(random_number(r)); });
  if (kind == "strings") return random_list<std::string>(r, [&] { return r.one_of(words()); });
  if (kind == "tensor")
    return random_tensor(static_cast<DType>(r.between(1, kDTypeCount - 1)), random_shape(r), r);
  if (kind == "graph") return random_graph(r);
  if (kind == "type")
    return type_of(random_value(r.one_of({"float", "seq(tensor(int64))", "optional(float)"}), {2}, r));
  return int64_t{0};
}

Type type_of(const Tensor& value) {
  switch (value.dtype()) {
    case DType::kSequence:
      return sequence_of(value.elements().empty() ? Type::tensor(DType::kFloat32)
                                                  : without_dims(type_of(value.elements()[0])));
    case DType::kOptional:
      return optional_of(value.elements().empty() ? Type::tensor(DType::kFloat32)
                                                  : type_of(value.elements()[0]));
    case DType::kMap: {
      Type type{.kind = Type::Kind::kMap, .dtype = value.elements()[0].dtype()};
      type.element = std::make_shared<const Type>(without_dims(type_of(value.elements()[1])));
      return type;
    }
    default:
      return Type::tensor(value.dtype(), value.shape());
  }
}

Case random_case(const OpDef& op, const OpVersion& version, Random& r) {
  const Schema& s = schema_of(version);
  Case out{.model = std::make_shared<Model>(), .feed = {}};
  out.model->opsets = {{std::string(op.domain), version.since}};
  if (!op.domain.empty()) out.model->opsets.push_back({"", 21});
  Graph& g = *out.model->graph;
  std::map<std::string, std::string> bound;  // the type chosen for a constraint
  const Shape base = random_shape(r);
  const bool types_known = !r.chance(25);
  std::vector<Value*> inputs, outputs;
  for (size_t i = 0, n = random_count(s.min_inputs(), s.max_inputs(), r); i < n; ++i) {
    const Parameter* p = s.input(i);
    const bool may_miss = p == nullptr || p->option == Parameter::Option::kOptional;
    if (may_miss ? r.chance(20) : r.chance(1)) {
      inputs.push_back(nullptr);
      continue;
    }
    const std::vector<std::string> allowed = p ? s.allowed_types(*p) : std::vector<std::string>{"float"};
    std::string type = bound.emplace(p ? p->type : "", r.one_of(allowed)).first->second;
    if (r.chance(4))
      type = r.one_of({"float", "int64", "string", "bool", "seq(tensor(float))", "uint4", "bfloat16"});
    Shape shape = i == 0 ? base : related_shape(base, r);
    if (p && holds_numbers_about_shapes(p->name) && r.chance(70))
      shape = r.chance(30) ? Shape{} : Shape{r.chance(60) ? base.rank() : small_extent(r)};
    const Tensor value = random_value(type, shape, r);
    const std::string name = "in" + std::to_string(i);
    if (r.chance(25) && !value.is_container()) {
      inputs.push_back(g.add_constant(name, value));
      continue;
    }
    inputs.push_back(g.add_input(name, types_known ? type_of(value) : Type()));
    out.feed.push_back(value);
  }
  for (size_t i = 0, n = std::max<size_t>(1, random_count(s.min_outputs(), s.max_outputs(), r)); i < n; ++i)
    outputs.push_back(g.add_value("out" + std::to_string(i)));
  AttributeList attributes;
  for (const AttributeDef& a : s.attributes)
    if (a.required ? !r.chance(3) : r.chance(35))
      attributes.emplace_back(
          a.name, random_attribute(r.chance(3) ? r.one_of({"int", "string", "ints"}) : a.kind, r));
  g.add_node(std::string(op.name), inputs, outputs, std::move(attributes), {}, std::string(op.domain));
  g.outputs = outputs;
  return out;
}

}  // namespace assay::fuzz
