#include "templates/builder.h"

#include <fmt/core.h>

#include "assay/version.h"

namespace assay {
namespace {

/// The oldest IR version whose readers know the opset (table "Released Versions" of ONNX's Versioning.md).
int64_t ir_version_for(int64_t opset) {
  struct Release {
    int64_t opset, ir_version;
  };
  constexpr Release kReleases[] = {{11, 6},  {14, 7},  {18, 8},  {20, 9}, {22, 10},
                                   {23, 11}, {24, 12}, {27, 13}, {28, 14}};
  for (const Release& r : kReleases)
    if (opset <= r.opset) return r.ir_version;
  return kReleases[std::size(kReleases) - 1].ir_version;
}

}  // namespace

Scope Scope::child(std::string_view name) const {
  Scope s;
  s.path_ = fmt::format("{}/{}", path_, name);
  s.key_ = key(name);
  s.leaf_ = name;
  return s;
}

Scope Scope::at(std::string_view names) const {
  Scope s = *this;
  for (size_t end = 0; end != names.npos; names = names.substr(std::min(names.size(), end + 1))) {
    end = names.find('/');
    s = s.child(names.substr(0, end));
  }
  return s;
}

Scope Scope::item(int index) const {
  Scope s;
  s.leaf_ = fmt::format("{}.{}", leaf_, index);
  s.path_ = fmt::format("{}/{}", path_, s.leaf_);
  s.key_ = fmt::format("{}.{}", key_, index);
  return s;
}

std::string Scope::key(std::string_view leaf) const {
  return key_.empty() ? std::string(leaf) : fmt::format("{}.{}", key_, leaf);
}

TemplateBuilder::TemplateBuilder(const TemplateOptions& options, std::string graph_name,
                                 const ExportStyle& style)
    : options_(options), style_(style) {
  model_->graph->name = std::move(graph_name);
  model_->opsets = {{"", opset()}};
  model_->ir_version = ir_version_for(opset());
  model_->producer_name = "assay";
  model_->producer_version = kVersion;
}

Value* TemplateBuilder::input(std::string name, DType dtype, Dims dims) {
  return graph_->add_input(std::move(name), Type::tensor(dtype, std::move(dims)));
}

void TemplateBuilder::output(Value* v, std::string name, DType dtype, Dims dims) {
  v->rename(std::move(name));
  v->type = Type::tensor(dtype, std::move(dims));
  graph_->outputs.push_back(v);
}

std::string TemplateBuilder::numbered(std::string name) {
  const int n = uses_[name]++;
  return n == 0 ? name : fmt::format("{}_{}", name, n);
}

std::vector<Value*> TemplateBuilder::node_with_outputs(const Scope& scope, std::string_view op_type,
                                                       std::vector<Value*> inputs, AttributeList attributes,
                                                       int outputs, std::string_view domain) {
  const std::string name = numbered(fmt::format("{}/{}", scope.path(), op_type));
  std::vector<Value*> values;
  for (int i = 0; i < outputs; ++i) values.push_back(graph_->add_value(fmt::format("{}_output_{}", name, i)));
  graph_->add_node(std::string(op_type), std::move(inputs), values, std::move(attributes), name,
                   std::string(domain));
  return values;
}

Value* TemplateBuilder::node(const Scope& scope, std::string_view op_type, std::vector<Value*> inputs,
                             AttributeList attributes) {
  return node_with_outputs(scope, op_type, std::move(inputs), std::move(attributes), 1).front();
}

std::shared_ptr<Graph> TemplateBuilder::body(std::string name, const std::function<void()>& fill) {
  const auto body = std::make_shared<Graph>();
  body->name = std::move(name);
  body->set_parent(graph_);
  graph_ = body.get();
  fill();
  graph_ = body->parent();
  return body;
}

void TemplateBuilder::import(std::string domain, int64_t version) {
  model_->opsets.push_back({std::move(domain), version});
}

Tensor TemplateBuilder::draw(const Scope& scope, std::string_view leaf, const Shape& shape,
                             const Init& init) const {
  if (!has_weights()) return weights_without_memory(shape);
  return random_weights(options_.seed, scope.key(leaf), shape, init);
}

Value* TemplateBuilder::add_weight(const Scope& scope, std::string_view leaf, Tensor values) {
  return graph_->add_constant(scope.key(leaf), std::move(values));
}

Value* TemplateBuilder::weight(const Scope& scope, std::string_view leaf, const Shape& shape,
                               const Init& init) {
  return add_weight(scope, leaf, draw(scope, leaf, shape, init));
}

Value* TemplateBuilder::constant(const Scope& scope, Tensor values) {
  if (style_.constant_nodes)
    return node(scope, "Constant", {}, {{"value", UnalignedTensor(std::move(values))}});
  const std::string name = numbered(fmt::format("{}/Constant", scope.path()));
  return graph_->add_constant(name + "_output_0", std::move(values));
}

Value* TemplateBuilder::ints(const Scope& scope, const std::vector<int64_t>& values) {
  return constant(scope, Tensor::vector(values));
}

Value* TemplateBuilder::scalar(const Scope& scope, float value) {
  return constant(scope, Tensor::scalar(value));
}

std::shared_ptr<Model> TemplateBuilder::finish() { return std::move(model_); }

bool is_parameter_name(std::string_view name) {
  return !name.starts_with('/') && !name.ends_with(".running_mean") && !name.ends_with(".running_var");
}

}  // namespace assay
