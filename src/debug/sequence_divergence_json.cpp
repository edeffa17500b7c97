#include <cmath>
#include <string>

#include "base/json_writer.h"
#include "debug/sequence_divergence.h"
#include "generate/parting.h"

namespace assay::debug {
namespace {

void write_step(JsonWriter& json, const StepDivergence& s) {
  json.begin_object().key("prompt").value(static_cast<int64_t>(s.prompt));
  json.key("index").value(static_cast<int64_t>(s.index)).key("positions").value(s.positions);
  json.key("added").begin_array();
  for (const int64_t token : s.added) json.value(token);
  json.end_array().key("outputs").begin_array();
  for (const OutputDifference& o : s.outputs) {
    json.begin_object().key("first").value(o.first).key("second").value(o.second).key("difference");
    write_difference(json, o.difference);
    json.end_object();
  }
  json.end_array().key("parts").value(s.parts).key("from_one_cache").value(s.from_one_cache);
  json.key("layers");
  write_divergences(json, s.layers);
  json.end_object();
}

}  // namespace

std::string sequence_divergence_json(const SequenceDivergence& found) {
  std::string text;
  JsonWriter json([&](std::string_view part) { text += part; });
  json.begin_object().key("first").value(found.first_name).key("second").value(found.second_name);
  json.key("prompts").value(static_cast<int64_t>(found.prompts));
  json.key("equal_tokens").value(static_cast<int64_t>(found.equal_tokens));
  json.key("largest_difference").value(found.largest_difference);
  if (std::isfinite(found.smallest_margin)) json.key("smallest_margin").value(found.smallest_margin);
  if (!found.stopped.empty()) json.key("stopped").value(found.stopped);
  json.key("partings").begin_array();
  for (const generate::Parting& p : found.partings) generate::write_parting(json, p);
  json.end_array().key("steps").begin_array();
  for (const StepDivergence& s : found.steps) write_step(json, s);
  json.end_array().end_object();
  return text + "\n";
}

}  // namespace assay::debug
