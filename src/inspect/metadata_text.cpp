#include "inspect/metadata_text.h"

#include <fmt/format.h>

#include <string_view>

#include "assay/edit.h"
#include "inspect/text_block.h"

namespace assay {
namespace {

void add(std::string& line, std::string_view name, const std::string& value) {
  if (!value.empty()) line += fmt::format(" | {}: {}", name, value);
}

/// A line for each pair; values of several lines go on below.
std::string pairs_text(const Metadata& metadata) {
  std::string text;
  for (const auto& [key, value] : metadata) {
    const bool is_long = value.find('\n') != std::string::npos;
    text += "\n" + indented(is_long ? fmt::format("{}:\n{}", key, indented(value))
                                    : fmt::format("{}: {}", key, value));
  }
  return text;
}

void add_block(std::string& text, const std::string& title, const Metadata& metadata) {
  if (!metadata.empty()) text += fmt::format("\n{}:{}", title, pairs_text(metadata));
}

void add_graph(std::string& text, const Graph& g, const std::string& title) {
  add_block(text, title, g.metadata);
  for (const auto& v : g.values())
    add_block(text, fmt::format("Metadata of tensor '{}'", v->name()), v->metadata);
  for (const auto& n : g.nodes()) {
    if (!n->doc_string.empty())
      text += fmt::format("\nDescription of node {}: {}", n->label(), n->doc_string);
    add_block(text, fmt::format("Metadata of node {}", n->label()), n->metadata);
  }
}

}  // namespace

std::string metadata_text(const Model& model, bool details) {
  std::string text = fmt::format("IR Version: {}", model.ir_version);
  add(text, "Producer",
      model.producer_name + (model.producer_version.empty() ? "" : " " + model.producer_version));
  add(text, "Domain", model.domain);
  if (model.model_version != 0) add(text, "Model Version", std::to_string(model.model_version));
  if (!model.doc_string.empty()) text += "\nDescription:\n" + indented(model.doc_string);
  add_block(text, fmt::format("Metadata ({})", model.metadata.size()), model.metadata);
  if (!details) return text;
  const Graph& g = *model.graph;
  add_graph(text, g, fmt::format("Metadata of graph '{}'", g.name));
  for (const Graph* body : subgraphs(g, /*recursive=*/true))
    add_graph(text, *body, fmt::format("Metadata of the body '{}'", body->name));
  for (const Function& f : model.functions) {
    add_block(text, fmt::format("Metadata of function '{}'", f.name), f.metadata);
    add_graph(text, *f.body, fmt::format("Metadata of the body of function '{}'", f.name));
  }
  return text;
}

}  // namespace assay
