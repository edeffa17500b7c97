#include <string>

#include "base/json_writer.h"
#include "debug/non_finite.h"

namespace assay::debug {
namespace {

void write_index(JsonWriter& json, const std::vector<int64_t>& index) {
  json.begin_array();
  for (const int64_t i : index) json.value(i);
  json.end_array();
}

void write_element(JsonWriter& json, const NonFiniteElement& element) {
  json.begin_object().key("index");
  write_index(json, element.index);
  json.key("value").value(element.value);
  if (!element.reason.empty()) json.key("reason").value(element.reason);
  if (element.exact) json.key("exact").value(*element.exact);
  json.key("operands").begin_array();
  for (const ElementOperand& operand : element.operands) {
    json.begin_object().key("tensor").value(operand.tensor);
    if (operand.index) {
      json.key("index");
      write_index(json, *operand.index);
      json.key("value").value(operand.value);
    } else {
      json.key("least").value(operand.least).key("largest").value(operand.largest);
    }
    json.end_object();
  }
  json.end_array().end_object();
}

void write_elements(JsonWriter& json, const std::vector<NonFiniteElement>& elements) {
  json.key("elements").begin_array();
  for (const NonFiniteElement& element : elements) write_element(json, element);
  json.end_array();
}

void write_count(JsonWriter& json, const NonFiniteCount& count) {
  json.key("size").value(count.elements).key("nan").value(count.nan).key("infinite").value(count.infinite);
}

void write_fate(JsonWriter& json, const NonFiniteOrigin& origin) {
  json.key("carriers").value(static_cast<int64_t>(origin.carriers));
  json.key("ends").value(static_cast<int64_t>(origin.end_count)).key("ends_at").begin_array();
  for (const NonFiniteOrigin::End& end : origin.ends)
    json.begin_object().key("node").value(end.node).key("how").value(end.how).end_object();
  json.end_array().key("outputs").begin_array();
  for (const NonFiniteOrigin::Reached& reached : origin.outputs) {
    json.begin_object().key("output").value(reached.output);
    write_count(json, reached.count);
    json.end_object();
  }
  json.end_array();
}

void write_origin(JsonWriter& json, const NonFiniteOrigin& origin) {
  json.begin_object().key("kind").value(origin_kind_name(origin.kind));
  json.key("is_mask").value(origin.is_mask());
  json.key("tensor").value(origin.tensor).key("dtype").value(dtype_name(origin.dtype)).key("shape");
  write_index(json, origin.shape.dims());
  write_count(json, origin.count);
  if (!origin.node.empty()) json.key("node").value(origin.node).key("op_type").value(origin.op_type);
  write_elements(json, origin.elements);
  if (const auto& body = origin.in_body) {
    json.key("in_body").begin_object().key("node").value(body->node).key("op_type").value(body->op_type);
    json.key("tensor").value(body->tensor).key("run").value(body->run);
    write_elements(json, body->elements);
    json.end_object();
  }
  json.key("first_iteration").value(origin.first_iteration);
  json.key("iterations").value(origin.iterations);
  write_fate(json, origin);
  json.end_object();
}

}  // namespace

std::string non_finite_json(const NonFiniteReport& report) {
  std::string text;
  JsonWriter json([&](std::string_view part) { text += part; });
  json.begin_object().key("model").value(report.model).key("backend").value(report.backend);
  json.key("iterations").value(report.iterations);
  json.key("tensors").value(static_cast<int64_t>(report.tensors));
  json.key("reaches_outputs").value(report.reaches_outputs());
  const NonFiniteOrigin* cause = report.cause();
  if (cause != nullptr) json.key("cause").value(cause->tensor);
  json.key("origins").begin_array();
  for (const NonFiniteOrigin& origin : report.origins) write_origin(json, origin);
  json.end_array().end_object();
  return text + "\n";
}

}  // namespace assay::debug
