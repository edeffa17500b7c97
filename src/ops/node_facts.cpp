#include "ops/node_facts.h"

#include "graph/read.h"
#include "ops/op_context.h"
#include "ops/schema.h"

namespace assay {
namespace {

/// Of a float or an integer.
std::optional<float> number_of(const Attribute::Data& data) {
  if (const auto* number = std::get_if<float>(&data)) return *number;
  if (const auto* integer = std::get_if<int64_t>(&data)) return static_cast<float>(*integer);
  return std::nullopt;
}

/// 0 where neither the node nor the schema has a number of that name.
float parameter_of(const Node& node, const OpVersion& version, std::string_view name) {
  if (name.empty()) return 0;
  if (const Attribute* a = node.find_attribute(name))
    if (const auto number = number_of(a->data)) return *number;
  const AttributeDef* def = schema_of(version).attribute(name);
  return def != nullptr && def->fallback ? number_of(*def->fallback).value_or(0) : 0;
}

}  // namespace

const OpDef* find_op(const Node& node, const Model& model) {
  return ops_of(model).find(node.domain, node.op_type);
}

const OpFacts& facts_of(const Node& node, const Model& model) {
  static constexpr OpFacts kNone;
  const OpDef* op = find_op(node, model);
  return op != nullptr ? op->facts : kNone;
}

bool hands_on(const Node& node, const Model& model) {
  return facts_of(node, model).gives_inputs() && string_attribute(node, "reduction", "none") == "none";
}

bool selects_elements(const Node& resize) {
  return string_attribute(resize, "mode", "nearest") == "nearest" &&
         string_attribute(resize, "coordinate_transformation_mode", "half_pixel") != "tf_crop_and_resize";
}

std::optional<PointwiseCode> pointwise_code(const Node& node, const Model& model) {
  const OpDef* op = find_op(node, model);
  if (op == nullptr || !op->facts.pointwise.op) return std::nullopt;
  const PointwiseFact& fact = op->facts.pointwise;
  const OpVersion* version = version_for(*op, model.opset(node.domain));
  if (version == nullptr) version = &op->versions.back();
  std::optional<kernels::PointwiseOp> code = fact.op;
  if (fact.choose != nullptr) code = fact.choose(OpContext(node, *op, *version));
  if (!code) return std::nullopt;
  return PointwiseCode{*code, parameter_of(node, *version, fact.parameters[0]),
                       parameter_of(node, *version, fact.parameters[1])};
}

}  // namespace assay
