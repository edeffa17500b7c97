#include "plugin/config_file.h"

#include <fmt/format.h>

#include "base/mapped_file.h"
#include "plugin/yaml_fields.h"

namespace assay {
namespace {

YamlNode yaml_list(const std::vector<std::string>& names) {
  YamlNode::List list;
  for (const std::string& name : names) list.emplace_back(name);
  return list;
}

std::vector<std::string> names(const YamlFields& fields, std::string_view key) {
  std::vector<std::string> out;
  for (const YamlNode& n : fields.list(fields.at(key), key))
    out.push_back(fields.text(n, fmt::format("one of the {}", key)));
  return out;
}

PluginInstance instance(const std::string& file, const YamlNode& node) {
  const YamlFields fields(file, node, "an instance");
  PluginInstance out{.inputs = names(fields, "inputs"), .outputs = names(fields, "outputs")};
  if (const YamlNode* graph = fields.find("graph")) out.graph = fields.text(*graph, "graph");
  const YamlNode* attributes = fields.find("attributes");
  if (attributes != nullptr && !attributes->is_null())
    out.attributes = YamlFields(file, *attributes, "attributes").map();
  return out;
}

PluginMatches plugin(const std::string& file, const YamlNode& document) {
  const YamlFields fields(file, document, "a plugin");
  PluginMatches out{.name = fields.text(fields.at("name"), "name"), .op = fields.text(fields.at("op"), "op")};
  if (const YamlNode* domain = fields.find("domain")) out.domain = fields.text(*domain, "domain");
  out.domain = canonical_domain(out.domain);
  for (const YamlNode& n : fields.list(fields.at("instances"), "instances"))
    out.instances.push_back(instance(file, n));
  return out;
}

}  // namespace

std::string plugin_config_text(const std::vector<PluginMatches>& plugins) {
  std::vector<YamlNode> documents;
  for (const PluginMatches& p : plugins) {
    if (p.instances.empty()) continue;
    YamlNode::List instances;
    for (const PluginInstance& i : p.instances) {
      YamlNode::Map map;
      if (!i.graph.empty()) map.emplace_back("graph", i.graph);
      map.emplace_back("inputs", yaml_list(i.inputs));
      map.emplace_back("outputs", yaml_list(i.outputs));
      map.emplace_back("attributes", i.attributes);
      instances.emplace_back(std::move(map));
    }
    YamlNode::Map document = {{"name", p.name}, {"op", p.op}};
    if (!p.domain.empty()) document.emplace_back("domain", p.domain);
    document.emplace_back("instances", std::move(instances));
    documents.emplace_back(std::move(document));
  }
  return yaml_text(documents);
}

std::vector<PluginMatches> parse_plugin_config(const std::string& text, const std::string& file) {
  std::vector<PluginMatches> plugins;
  for (const YamlNode& document : parse_yaml(text, file)) plugins.push_back(plugin(file, document));
  return plugins;
}

std::vector<PluginMatches> load_plugin_config(const std::string& path) {
  return parse_plugin_config(std::string(MappedFile::open(path)->bytes()), path);
}

}  // namespace assay
