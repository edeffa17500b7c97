#include "plugin/pattern_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "assay/error.h"
#include "base/mapped_file.h"
#include "plugin/yaml_fields.h"

namespace assay {
namespace {

bool is_name(std::string_view text) {
  const auto part = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
         std::all_of(text.begin(), text.end(), part);
}

/// Reads one file.
class PatternReader {
 public:
  PatternReader(std::string file, std::string name) : file_(std::move(file)) {
    pattern_.name = std::move(name);
  }

  PluginPattern read(const YamlNode& root) {
    const YamlFields fields(file_, root, "a plugin's pattern");
    fields.allow({"name", "op", "domain", "inputs", "constants", "nodes", "outputs", "where", "replacement"});
    if (const YamlNode* n = fields.find("name")) pattern_.name = fields.text(*n, "name");
    pattern_.op = fields.text(fields.at("op"), "op");
    if (const YamlNode* n = fields.find("domain")) pattern_.domain = fields.text(*n, "domain");
    pattern_.domain = canonical_domain(pattern_.domain);
    pattern_.inputs = new_tensors(fields, fields.at("inputs"), "inputs");
    if (pattern_.inputs.empty()) fields.error(fields.at("inputs"), "a pattern needs an input to begin at");
    if (const YamlNode* n = fields.find("constants"))
      pattern_.constants = new_tensors(fields, *n, "constants");
    read_nodes(fields, fields.at("nodes"));
    pattern_.outputs = known_tensors(fields, fields.at("outputs"), "outputs");
    if (pattern_.outputs.empty()) fields.error(fields.at("outputs"), "a pattern needs an output");
    check_use(fields);
    if (const YamlNode* n = fields.find("where")) read_conditions(fields, *n);
    read_replacement(fields);
    return std::move(pattern_);
  }

 private:
  std::string tensor_name(const YamlFields& fields, const YamlNode& n, std::string_view what) const {
    const std::string name = fields.text(n, what);
    if (!is_name(name))
      fields.error(n, fmt::format("'{}' is not a name for a tensor: letters, digits and _ make one", name));
    return name;
  }

  /// Names that are not in use yet.
  std::vector<std::string> new_tensors(const YamlFields& fields, const YamlNode& list,
                                       std::string_view what) {
    std::vector<std::string> names;
    for (const YamlNode& n : fields.list(list, what)) {
      names.push_back(tensor_name(fields, n, what));
      if (!tensors_.insert(names.back()).second)
        fields.error(n, fmt::format("the tensor '{}' is defined twice", names.back()));
    }
    return names;
  }

  std::vector<std::string> known_tensors(const YamlFields& fields, const YamlNode& list,
                                         std::string_view what) const {
    std::vector<std::string> names;
    std::set<std::string> seen;
    for (const YamlNode& n : fields.list(list, what)) {
      names.push_back(tensor_name(fields, n, what));
      if (!tensors_.contains(names.back()))
        fields.error(
            n, fmt::format("the tensor '{}' is not defined: it is not an input, a constant or an output of a "
                           "node before",
                           names.back()));
      if (!seen.insert(names.back()).second && what == "outputs")
        fields.error(n, fmt::format("the output '{}' is named twice", names.back()));
    }
    return names;
  }

  void read_nodes(const YamlFields& fields, const YamlNode& list) {
    const YamlNode::List& items = fields.list(list, "nodes");
    if (items.empty()) fields.error(list, "a pattern needs a node");
    for (const YamlNode& item : items) read_node(item);
  }

  void read_node(const YamlNode& item) {
    const YamlFields fields(file_, item, "a node");
    fields.allow({"name", "op", "domain", "inputs", "outputs"});
    PluginPatternNode node{.op = fields.text(fields.at("op"), "op")};
    const YamlNode* name = fields.find("name");
    node.name = name != nullptr ? fields.text(*name, "name") : fmt::format("node_{}", pattern_.nodes.size());
    if (name != nullptr && !is_name(node.name))
      fields.error(*name,
                   fmt::format("'{}' is not a name for a node: letters, digits and _ make one", node.name));
    if (!node_names_.insert(node.name).second)
      fields.error(item, fmt::format("there are two nodes of the name '{}'", node.name));
    if (const YamlNode* n = fields.find("domain")) node.domain = fields.text(*n, "domain");
    if (node.domain == "ai.onnx") node.domain = "";
    node.inputs = node_inputs(fields, fields.at("inputs"));
    node.outputs = new_tensors(fields, fields.at("outputs"), "outputs");
    if (node.outputs.empty()) fields.error(item, "a node needs an output");
    pattern_.nodes.push_back(std::move(node));
  }

  /// null is an omitted input.
  std::vector<std::string> node_inputs(const YamlFields& fields, const YamlNode& list) const {
    std::vector<std::string> names;
    for (const YamlNode& n : fields.list(list, "inputs")) {
      if (n.is_null()) {
        names.emplace_back();
        continue;
      }
      names.push_back(tensor_name(fields, n, "inputs"));
      if (!tensors_.contains(names.back()))
        fields.error(
            n, fmt::format("the tensor '{}' is not defined: nodes come after those whose outputs they use",
                           names.back()));
    }
    return names;
  }

  /// Everything must be connected to the first input, where matching begins.
  void check_use(const YamlFields& fields) const {
    std::unordered_map<std::string_view, std::vector<const PluginPatternNode*>> nodes_of;
    const auto each_tensor = [](const PluginPatternNode& node, auto f) {
      for (const auto* names : {&node.inputs, &node.outputs})
        for (const std::string& name : *names)
          if (!name.empty()) f(name);
    };
    for (const PluginPatternNode& node : pattern_.nodes)
      each_tensor(node, [&](const std::string& name) { nodes_of[name].push_back(&node); });
    std::unordered_set<std::string_view> reached = {pattern_.inputs[0]};
    std::unordered_set<const PluginPatternNode*> seen;
    for (std::vector<std::string_view> next = {pattern_.inputs[0]}; !next.empty();) {
      const std::string_view tensor = next.back();
      next.pop_back();
      for (const PluginPatternNode* node : nodes_of[tensor]) {
        if (!seen.insert(node).second) continue;
        each_tensor(*node, [&](const std::string& name) {
          if (reached.insert(name).second) next.push_back(name);
        });
      }
    }
    for (const std::string& t : tensors_)
      if (!reached.contains(t))
        fields.error(fields.at("nodes"), fmt::format("no node connects the tensor '{}' with the input '{}'",
                                                     t, pattern_.inputs[0]));
  }

  Expression expression(const YamlFields& fields, const YamlNode& n, std::string text) const {
    try {
      Expression e(std::move(text));
      for (const std::string& name : e.nodes())
        require(node_names_.contains(name), ErrorCode::kInvalidArgument,
                "there is no node '{}' in the expression `{}`", name, e.text());
      for (const std::string& name : e.tensors())
        require(tensors_.contains(name), ErrorCode::kInvalidArgument,
                "there is no tensor '{}' in the expression `{}`", name, e.text());
      return e;
    } catch (const Error& e) {
      fields.error(n, e.what());
    }
  }

  void read_conditions(const YamlFields& fields, const YamlNode& list) {
    for (const YamlNode& n : fields.list(list, "where"))
      pattern_.conditions.push_back(expression(fields, n, fields.text(n, "a condition")));
  }

  void read_replacement(const YamlFields& root) {
    pattern_.replacement_inputs = pattern_.inputs;
    pattern_.replacement_inputs.insert(pattern_.replacement_inputs.end(), pattern_.constants.begin(),
                                       pattern_.constants.end());
    const YamlNode* node = root.find("replacement");
    if (node == nullptr) return;
    const YamlFields fields(file_, *node, "a replacement");
    fields.allow({"inputs", "attributes"});
    if (const YamlNode* list = fields.find("inputs")) read_replacement_inputs(fields, *list);
    const YamlNode* attributes = fields.find("attributes");
    if (attributes == nullptr) return;
    const YamlFields entries(file_, *attributes, "attributes");
    for (const auto& [name, value] : entries.map())
      pattern_.attributes.emplace_back(name, attribute(entries, name, value));
  }

  void read_replacement_inputs(const YamlFields& fields, const YamlNode& list) {
    pattern_.replacement_inputs = known_tensors(fields, list, "inputs");
    for (const std::string& t : pattern_.replacement_inputs) {
      const auto is_in = [&](const auto& names) {
        return std::find(names.begin(), names.end(), t) != names.end();
      };
      if (!is_in(pattern_.inputs) && !is_in(pattern_.constants))
        fields.error(list,
                     fmt::format("the new node cannot get '{}', which is computed inside the match", t));
    }
  }

  PluginAttribute attribute(const YamlFields& fields, const std::string& name, const YamlNode& value) const {
    const auto* text = value.get_if<std::string>();
    if (text != nullptr && text->starts_with("==")) return YamlNode(text->substr(1));
    if (text != nullptr && text->starts_with("=")) return expression(fields, value, text->substr(1));
    check_literal(fields, name, value);
    return value;
  }

  void check_literal(const YamlFields& fields, const std::string& name, const YamlNode& value) const {
    if (const auto* list = value.get_if<YamlNode::List>()) {
      for (const YamlNode& item : *list) {
        if (item.get_if<YamlNode::List>() != nullptr)
          fields.error(item, fmt::format("the attribute '{}' is a list of lists", name));
        check_literal(fields, name, item);
      }
      return;
    }
    if (value.is_null() || value.get_if<YamlNode::Map>() != nullptr)
      fields.error(value, fmt::format("the attribute '{}' is {}, not a number, text or a list of such", name,
                                      value.kind()));
    // YAML 1.1 reads 1e-5 as text, which its author hardly means.
    const auto* text = value.get_if<std::string>();
    if (text == nullptr || !value.is_plain()) return;
    double number = 0;
    const char* end = text->data() + text->size();
    if (std::from_chars(text->data(), end, number).ptr == end &&
        text->find_first_of("0123456789") != text->npos)
      fields.error(
          value,
          fmt::format("{} is text by the rules of YAML 1.1; write it with a point and a signed exponent "
                      "(1.0e-5), or in quotes",
                      *text));
  }

  std::string file_;
  PluginPattern pattern_;
  std::set<std::string> tensors_, node_names_;
};

}  // namespace

const PluginPatternNode* PluginPattern::find_node(std::string_view node) const {
  for (const PluginPatternNode& n : nodes)
    if (n.name == node) return &n;
  return nullptr;
}

PluginPattern parse_plugin_pattern(const std::string& text, const std::string& file,
                                   const std::string& name) {
  const std::vector<YamlNode> documents = parse_yaml(text, file);
  require(documents.size() == 1, ErrorCode::kInvalidArgument,
          "{} holds {} YAML documents; a plugin's pattern is one", file, documents.size());
  return PatternReader(file, name).read(documents[0]);
}

PluginPattern load_plugin_pattern(const std::string& folder) {
  const std::filesystem::path path(folder);
  const std::string file = (path / kPatternFile).string();
  const std::shared_ptr<const MappedFile> mapped = MappedFile::open(file);
  return parse_plugin_pattern(std::string(mapped->bytes()), file, path.filename().string());
}

}  // namespace assay
