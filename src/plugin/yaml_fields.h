// A map of a YAML file, read field by field with errors that name file and line.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "plugin/yaml.h"

namespace assay {

/// The fields of one map; a view of the node.
class YamlFields {
 public:
  /// `what` describes the map in errors: a node, a replacement. Throws Error (kInvalidArgument), as
  /// every member does, when the node is not a map.
  YamlFields(std::string file, const YamlNode& node, std::string what);

  const YamlNode::Map& map() const { return *node_.get_if<YamlNode::Map>(); }
  /// Refuses other keys.
  void allow(std::initializer_list<std::string_view> keys) const;
  /// Null when the field is missing.
  const YamlNode* find(std::string_view key) const { return node_.find(key); }
  /// The field, which must exist.
  const YamlNode& at(std::string_view key) const;
  /// The value as non-empty text, or as a list; `name` identifies it in errors.
  std::string text(const YamlNode& value, std::string_view name) const;
  const YamlNode::List& list(const YamlNode& value, std::string_view name) const;

  [[noreturn]] void error(const YamlNode& at, std::string_view message) const;

 private:
  std::string file_;
  const YamlNode& node_;
  std::string what_;
};

}  // namespace assay
