#include "ops/op_context.h"

namespace assay {

const Attribute::Data* OpContext::find_attr(std::string_view name) const {
  if (const Attribute* a = node_.find_attribute(name)) return &a->data;
  const AttributeDef* def = schema_of(version_).attribute(name);
  require(def != nullptr, ErrorCode::kInternal, "{}-{} has no attribute '{}'", op_.name, version_.since,
          name);
  return def->fallback ? &*def->fallback : nullptr;
}

template <typename T>
const T* OpContext::get_attr(std::string_view name, const char* kind) const {
  const Attribute::Data* data = find_attr(name);
  if (data == nullptr) return nullptr;
  const T* value = std::get_if<T>(data);
  check(value != nullptr, "attribute '{}' must be of type {}", name, kind);
  return value;
}

namespace {

template <typename T>
const T& required(const T* value, std::string_view name) {
  require(value != nullptr, ErrorCode::kInvalidModel, "the required attribute '{}' is missing", name);
  return *value;
}

}  // namespace

int64_t OpContext::attr_int(std::string_view name) const {
  return required(get_attr<int64_t>(name, "INT"), name);
}
double OpContext::attr_float(std::string_view name) const {
  return static_cast<double>(required(get_attr<float>(name, "FLOAT"), name));
}
const std::string& OpContext::attr_string(std::string_view name) const {
  return required(get_attr<std::string>(name, "STRING"), name);
}
const UnalignedTensor& OpContext::attr_tensor(std::string_view name) const {
  return required(get_attr<UnalignedTensor>(name, "TENSOR"), name);
}
Graph& OpContext::attr_graph(std::string_view name) const {
  return *required(get_attr<std::shared_ptr<Graph>>(name, "GRAPH"), name);
}
const Type& OpContext::attr_type(std::string_view name) const {
  return required(get_attr<Type>(name, "TYPE_PROTO"), name);
}
std::vector<int64_t> OpContext::attr_ints(std::string_view name) const {
  const auto* v = get_attr<std::vector<int64_t>>(name, "INTS");
  return v ? *v : std::vector<int64_t>();
}
std::vector<double> OpContext::attr_floats(std::string_view name) const {
  const auto* v = get_attr<std::vector<float>>(name, "FLOATS");
  return v ? std::vector<double>(v->begin(), v->end()) : std::vector<double>();
}
std::vector<std::string> OpContext::attr_strings(std::string_view name) const {
  const auto* v = get_attr<std::vector<std::string>>(name, "STRINGS");
  return v ? *v : std::vector<std::string>();
}
int64_t OpContext::attr_int(std::string_view name, int64_t otherwise) const {
  const auto* v = get_attr<int64_t>(name, "INT");
  return v ? *v : otherwise;
}
double OpContext::attr_float(std::string_view name, double otherwise) const {
  const auto* v = get_attr<float>(name, "FLOAT");
  return v ? static_cast<double>(*v) : otherwise;
}

void EvalContext::fail_missing_input(size_t i) const {
  const Parameter* p = schema_of(version()).input(i);
  fail(ErrorCode::kInvalidModel, "{}-{} needs its input '{}' (number {}), but {} are given", op().name,
       since(), p != nullptr ? p->name : "", i, inputs_.size());
}

SubgraphRunner& EvalContext::subgraphs() const {
  require(subgraphs_ != nullptr, ErrorCode::kUnsupported, "{} needs an interpreter to run its subgraph",
          op().name);
  return *subgraphs_;
}

}  // namespace assay
