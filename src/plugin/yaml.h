// YAML as PyYAML reads and writes it: the files of plugins and their matches.
//
// Parsed and laid out by libyaml, the library behind PyYAML; plain scalars are resolved here by PyYAML's
// rules (YAML 1.1), so `yes` is a boolean and `1e5` is text. Times and numbers to the base of 60
// stay text.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace assay {

/// A value with the line on which it began.
class YamlNode {
 public:
  using List = std::vector<YamlNode>;
  using Map = std::vector<std::pair<std::string, YamlNode>>;  ///< in order; keys are unique
  using Data = std::variant<std::monostate, bool, int64_t, double, std::string, List, Map>;

  YamlNode() = default;
  /// One of the types of Data, exactly.
  template <typename T>
  requires std::constructible_from<Data, std::in_place_type_t<T>, T> YamlNode(T value)
      : data_(std::in_place_type<T>, std::move(value)) {}  // NOLINT: it is a value

  const Data& data() const { return data_; }
  template <typename T>
  const T* get_if() const {
    return std::get_if<T>(&data_);
  }
  bool is_null() const { return std::holds_alternative<std::monostate>(data_); }
  /// For messages: null, a boolean, an integer, a number, text, a list, a map.
  std::string_view kind() const;
  /// The value of a map's key; null when there is no such key, or this is not a map.
  const YamlNode* find(std::string_view key) const;
  int line() const { return line_; }  ///< from 1; 0 for a node that was not parsed
  /// True for unquoted text.
  bool is_plain() const { return is_plain_; }

 private:
  friend class YamlReader;
  Data data_;
  int line_ = 0;
  bool is_plain_ = false;
};

/// Every document of a text. `name` identifies the file in errors. Throws Error (kInvalidArgument) with the
/// line for invalid YAML, keys that are not text or are duplicate, tags of other types, for nesting
/// deeper than 100, and for aliases that would make more than a million values.
std::vector<YamlNode> parse_yaml(std::string_view text, const std::string& name);

/// The text that PyYAML's dump_all(documents, default_flow_style=False, sort_keys=False) writes.
std::string yaml_text(const std::vector<YamlNode>& documents);

}  // namespace assay
