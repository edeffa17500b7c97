#include "analysis/held_types.h"

#include <algorithm>

#include "assay/edit.h"

namespace assay {
namespace {

std::string_view find(const Metadata& metadata, std::string_view key) {
  for (const auto& [known, text] : metadata)
    if (known == key) return text;
  return {};
}

void set(Metadata& metadata, std::string_view key, std::string_view text) {
  std::erase_if(metadata, [&](const auto& pair) { return pair.first == key; });
  if (!text.empty()) metadata.emplace_back(std::string(key), std::string(text));
}

void remove_from(Graph& g) {
  for (const auto& n : g.nodes()) {
    set(n->metadata, kHeldKey, {});
    set(n->metadata, kHeldOutputsKey, {});
  }
  for (Graph* sub : subgraphs(g)) remove_from(*sub);
}

}  // namespace

std::string_view held_type(const Node& n) { return find(n.metadata, kHeldKey); }

void set_held_type(Node& n, std::string_view dtype) { set(n.metadata, kHeldKey, dtype); }

std::vector<std::string> held_outputs(const Node& n) {
  std::vector<std::string> list;
  std::string_view text = find(n.metadata, kHeldOutputsKey);
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    list.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return list;
}

void set_held_outputs(Node& n, const std::vector<std::string>& dtypes) {
  std::string text;
  for (const std::string& type : dtypes) text += (text.empty() ? "" : " ") + (type.empty() ? "-" : type);
  set(n.metadata, kHeldOutputsKey, text);
}

bool are_held_apart(const std::vector<Node*>& nodes) {
  std::string_view known;
  for (const Node* n : nodes) {
    const std::string_view type = held_type(*n);
    if (!type.empty() && !known.empty() && type != known) return true;
    if (!type.empty()) known = type;
  }
  return false;
}

bool has_held_types(const Model& model) {
  const auto& nodes = model.graph->nodes();
  return std::any_of(nodes.begin(), nodes.end(), [](const auto& n) {
    return !find(n->metadata, kHeldKey).empty() || !find(n->metadata, kHeldOutputsKey).empty();
  });
}

void remove_held_types(Model& model) {
  remove_from(*model.graph);
  for (Function& f : model.functions) remove_from(*f.body);
}

}  // namespace assay
