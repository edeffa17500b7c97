#include "debug/reduction_json.h"

#include "base/json_writer.h"

namespace assay::debug {

std::string reduction_json(const Reduction& result, const Iterations& iterations, size_t nodes,
                           const std::string& output, const std::string& test_case) {
  std::string text;
  JsonWriter json([&](std::string_view part) { text += part; });
  json.begin_object().key("failure").value(result.failure).key("is_flaky").value(result.is_flaky);
  json.key("runs").value(int64_t{result.runs}).key("failed_runs").value(int64_t{result.failed_runs});
  json.key("nodes_of_model").value(static_cast<int64_t>(nodes)).key("nodes").begin_array();
  if (result.bad != nullptr)
    for (const auto& n : result.bad->graph->nodes()) {
      json.begin_object().key("name").value(n->name).key("op_type").value(n->op_type);
      json.key("outputs").begin_array();
      for (const Value* v : n->outputs()) json.value(v != nullptr ? v->name() : "");
      json.end_array().end_object();
    }
  json.end_array().key("checks").value(static_cast<int64_t>(iterations.checks()));
  json.key("iterations").value(static_cast<int64_t>(iterations.iterations()));
  json.key("has_own_names").value(result.has_own_names);
  json.key("own_weights").value(static_cast<int64_t>(result.own_weights));
  if (!output.empty()) json.key("model").value(output);
  if (!test_case.empty()) json.key("test_case").value(test_case);
  json.end_object();
  return text + "\n";
}

}  // namespace assay::debug
