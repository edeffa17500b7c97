// Differences as lines and as JSON.
#include <fmt/format.h>

#include <array>

#include "assay/inspect.h"
#include "base/json_writer.h"
#include "base/python_repr.h"
#include "inspect/text_block.h"

namespace assay {
namespace {

constexpr std::array<std::string_view, 9> kKinds = {
    "metadata", "opset", "input", "output", "node", "attribute", "connection", "initializer", "function"};
constexpr std::array<std::string_view, 3> kChanges = {"removed", "added", "changed"};
constexpr std::array<char, 3> kMarks = {'-', '+', '~'};

std::string line(const ModelDifference& d) {
  std::string text = fmt::format("{} {}", kMarks[static_cast<size_t>(d.change)], d.what);
  if (d.before != d.after && d.change == ModelDifference::Change::kChanged)
    text += fmt::format(": {} -> {}", d.before, d.after);
  else if (!d.before.empty() || !d.after.empty())
    text += ": " + (d.before.empty() ? d.after : d.before);
  if (d.max_difference) text += fmt::format(" | max absolute difference {}", format_g(*d.max_difference, 5));
  return text;
}

}  // namespace

std::string_view name_of(ModelDifference::Kind kind) { return kKinds[static_cast<size_t>(kind)]; }
std::string_view name_of(ModelDifference::Change change) { return kChanges[static_cast<size_t>(change)]; }

std::string diff_text(const ModelDiff& diff) {
  std::string text =
      fmt::format("Nodes: {} -> {} | In both: {} | Renamed: {} node(s), {} value(s)\n\n", diff.nodes_a,
                  diff.nodes_b, diff.matched, diff.renamed_nodes, diff.renamed_values);
  text += fmt::format("---- {} Difference(s) ----\n", diff.differences.size());
  for (const ModelDifference& d : diff.differences) text += line(d) + "\n";
  return std::string(stripped(text));
}

std::string diff_json(const ModelDiff& diff) {
  std::string text;
  JsonWriter json([&](std::string_view piece) { text += piece; });
  json.begin_object();
  json.key("same").value(diff.is_same());
  json.key("nodes_a")
      .value(diff.nodes_a)
      .key("nodes_b")
      .value(diff.nodes_b)
      .key("nodes_in_both")
      .value(diff.matched);
  json.key("renamed_nodes").value(diff.renamed_nodes).key("renamed_values").value(diff.renamed_values);
  json.key("differences").begin_array();
  for (const ModelDifference& d : diff.differences) {
    json.begin_object();
    json.key("kind").value(name_of(d.kind)).key("change").value(name_of(d.change)).key("what").value(d.what);
    if (!d.before.empty()) json.key("before").value(d.before);
    if (!d.after.empty()) json.key("after").value(d.after);
    if (d.max_difference) json.key("max_difference").value(*d.max_difference);
    json.end_object();
  }
  json.end_array().end_object();
  return text;
}

}  // namespace assay
