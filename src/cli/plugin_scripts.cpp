#include "cli/plugin_scripts.h"

#include <filesystem>
#include <utility>

#include "assay/error.h"
#include "plugin/pattern_file.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

YamlNode yaml_of(const script::Item& item);

struct ToYaml {
  YamlNode node;
  void operator()(std::monostate) {}
  void operator()(bool x) { node = x; }
  void operator()(int64_t x) { node = x; }
  void operator()(double x) { node = x; }
  void operator()(const std::string& x) { node = x; }
  void operator()(const script::Item::List& x) {
    YamlNode::List list;
    for (const script::Item& item : x) list.push_back(yaml_of(item));
    node = std::move(list);
  }
  void operator()(const script::Item::Dict& x) {
    YamlNode::Map map;
    for (const auto& [key, item] : x) map.emplace_back(key, yaml_of(item));
    node = std::move(map);
  }
  void operator()(const Tensor&) { fail(ErrorCode::kInternal, "an attribute of a plugin came as an array"); }
};

YamlNode yaml_of(const script::Item& item) {
  ToYaml visitor;
  item.visit(visitor);
  return std::move(visitor.node);
}

script::Item item_of(const YamlNode& node) {
  if (const auto* x = node.get_if<bool>()) return *x;
  if (const auto* x = node.get_if<int64_t>()) return *x;
  if (const auto* x = node.get_if<double>()) return *x;
  if (const auto* x = node.get_if<std::string>()) return *x;
  if (const auto* x = node.get_if<YamlNode::List>()) {
    script::Item::List list;
    for (const YamlNode& n : *x) list.push_back(item_of(n));
    return list;
  }
  if (const auto* x = node.get_if<YamlNode::Map>()) {
    script::Item::Dict dict;
    for (const auto& [key, n] : *x) dict.emplace_back(key, item_of(n));
    return dict;
  }
  return {};
}

}  // namespace

std::string plugin_script_of(const std::string& folder) {
  const fs::path script = fs::path(folder) / kPythonPatternFile;
  std::error_code ec;
  return fs::exists(script, ec) && !fs::exists(fs::path(folder) / kPatternFile, ec) ? script.string() : "";
}

PluginMatches match_plugin_script(const std::string& path, const Model& model) {
  script::PluginScript script(path);
  const script::ScriptPluginMatches found = script.match(model);
  PluginMatches matches{.name = found.name,
                        .op = found.op,
                        .domain = std::string(canonical_domain(found.domain)),
                        .instances = {}};
  for (const script::ScriptPluginInstance& i : found.instances) {
    PluginInstance& instance = matches.instances.emplace_back();
    instance.inputs = i.inputs;
    instance.outputs = i.outputs;
    const YamlNode attributes = yaml_of(i.attributes);
    if (const auto* map = attributes.get_if<YamlNode::Map>()) instance.attributes = *map;
  }
  return matches;
}

script::PluginScript::Replaced replace_by_script(script::PluginScript& script, const Model& model,
                                                 const PluginMatches& plugin, const Registries& registries) {
  std::vector<script::ScriptPluginInstance> instances;
  for (const PluginInstance& i : plugin.instances) {
    require(i.graph.empty(), ErrorCode::kUnsupported,
            "an instance lies in the graph {}, and a replace_with_plugin of a pattern.py sees the main graph "
            "alone",
            i.graph);
    script::Item::Dict attributes;
    for (const auto& [key, node] : i.attributes) attributes.emplace_back(key, item_of(node));
    instances.push_back({.inputs = i.inputs, .outputs = i.outputs, .attributes = std::move(attributes)});
  }
  return script.replace(model, plugin.op, instances, registries.ops);
}

}  // namespace assay::cli
