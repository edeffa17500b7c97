#include <string>

#include "base/json_writer.h"
#include "debug/divergence.h"

namespace assay::debug {
namespace {

void write_labels(JsonWriter& json, const char* key, const std::vector<std::string>& labels) {
  json.key(key).begin_array();
  for (const std::string& label : labels) json.value(label);
  json.end_array();
}

void write_divergence(JsonWriter& json, const Divergence& d) {
  json.begin_object().key("first_tensor").value(d.first_tensor).key("second_tensor").value(d.second_tensor);
  json.key("matched_by").value(matched_by_name(d.by));
  write_labels(json, "first_nodes", d.first_nodes);
  write_labels(json, "second_nodes", d.second_nodes);
  json.key("difference");
  write_difference(json, d.difference);
  json.key("excess_of_operands").value(d.excess_of_operands);
  if (d.first_own_error) json.key("first_own_error").value(*d.first_own_error);
  if (d.second_own_error) json.key("second_own_error").value(*d.second_own_error);
  if (const std::string errs = erring_side(d); !errs.empty()) json.key("errs").value(errs);
  json.key("first_iteration").value(d.first_iteration).key("iterations").value(d.iterations);
  json.key("followers").value(static_cast<int64_t>(d.followers));
  json.key("recovered").value(static_cast<int64_t>(d.recovered)).key("outputs").begin_array();
  for (const Divergence::Reached& reached : d.outputs) {
    json.begin_object().key("output").value(reached.output).key("difference");
    write_difference(json, reached.difference);
    json.end_object();
  }
  json.end_array().end_object();
}

}  // namespace

void write_difference(JsonWriter& json, const TensorDifference& d) {
  json.begin_object();
  if (!d.problem.empty()) json.key("problem").value(d.problem);
  json.key("error").value(d.error).key("scale").value(d.scale).key("excess").value(d.excess);
  json.key("beyond").value(d.beyond).key("elements").value(d.elements);
  json.key("index").begin_array();
  for (const int64_t i : d.index) json.value(i);
  json.end_array().key("first").value(d.first).key("second").value(d.second).end_object();
}

void write_divergences(JsonWriter& json, const DivergenceReport& report) {
  json.begin_object().key("first").value(report.first_name).key("second").value(report.second_name);
  json.key("iterations").value(report.iterations);
  json.key("compared").value(static_cast<int64_t>(report.compared));
  json.key("differing").value(static_cast<int64_t>(report.differing));
  json.key("first_alone").value(static_cast<int64_t>(report.first_alone));
  json.key("second_alone").value(static_cast<int64_t>(report.second_alone));
  json.key("other_names").begin_object();
  for (const auto& [by, count] : report.matched_by) json.key(by).value(static_cast<int64_t>(count));
  json.end_object().key("divergences").begin_array();
  for (const Divergence& d : report.divergences) write_divergence(json, d);
  json.end_array().end_object();
}

std::string divergence_json(const DivergenceReport& report) {
  std::string text;
  JsonWriter json([&](std::string_view part) { text += part; });
  write_divergences(json, report);
  return text + "\n";
}

}  // namespace assay::debug
