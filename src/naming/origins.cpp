#include "naming/origins.h"

#include <algorithm>

#include "assay/edit.h"

namespace assay {
namespace {

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string* find_record(Metadata& metadata) {
  for (auto& [key, text] : metadata)
    if (key == kOriginsKey) return &text;
  return nullptr;
}

const std::string* find_record(const Metadata& metadata) {
  return find_record(const_cast<Metadata&>(metadata));
}

}  // namespace

std::vector<std::string> origins_of(const Node& node) {
  if (const std::string* text = find_record(node.metadata)) return split_lines(*text);
  if (!node.name.empty()) return {node.name};
  for (const Value* v : node.outputs())
    if (v != nullptr) return {v->name()};
  return {};
}

void set_origins(Node& node, const std::vector<std::string>& names) {
  std::string* text = find_record(node.metadata);
  if (text == nullptr && names.empty()) return;
  if (text == nullptr) text = &node.metadata.emplace_back(std::string(kOriginsKey), std::string()).second;
  text->clear();
  for (const std::string& name : names) {
    if (!text->empty()) *text += '\n';
    *text += name;
  }
}

void set_beside(Node& node) {
  if (!is_beside(node)) node.metadata.emplace_back(std::string(kBesideKey), std::string());
}

bool is_beside(const Node& node) {
  return std::any_of(node.metadata.begin(), node.metadata.end(),
                     [](const auto& pair) { return pair.first == kBesideKey; });
}

void Origins::add(const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (known_.insert(name).second) names_.push_back(name);
}

namespace {

void remove_from(Graph& g) {
  const auto is_record = [](const auto& pair) {
    return pair.first == kOriginsKey || pair.first == kBesideKey;
  };
  for (const auto& n : g.nodes()) std::erase_if(n->metadata, is_record);
  for (Graph* sub : subgraphs(g)) remove_from(*sub);
}

}  // namespace

void remove_origins(Model& model) {
  remove_from(*model.graph);
  for (Function& f : model.functions) remove_from(*f.body);
}

}  // namespace assay
