#include "plugin/yaml_fields.h"

#include <fmt/format.h>

#include <algorithm>

#include "assay/error.h"

namespace assay {

YamlFields::YamlFields(std::string file, const YamlNode& node, std::string what)
    : file_(std::move(file)), node_(node), what_(std::move(what)) {
  if (node.get_if<YamlNode::Map>() == nullptr)
    error(node, fmt::format("{} is a map, not {}", what_, node.kind()));
}

void YamlFields::allow(std::initializer_list<std::string_view> keys) const {
  for (const auto& [key, value] : map())
    if (std::find(keys.begin(), keys.end(), key) == keys.end())
      error(value, fmt::format("{} has no field '{}'; it may have {}", what_, key, fmt::join(keys, ", ")));
}

const YamlNode& YamlFields::at(std::string_view key) const {
  const YamlNode* value = find(key);
  if (value == nullptr) error(node_, fmt::format("{} lacks the field '{}'", what_, key));
  return *value;
}

std::string YamlFields::text(const YamlNode& value, std::string_view name) const {
  const auto* text = value.get_if<std::string>();
  if (text == nullptr)
    error(value,
          fmt::format("{} is {}, not text; put it in quotes if it is meant as text", name, value.kind()));
  if (text->empty()) error(value, fmt::format("{} is empty", name));
  return *text;
}

const YamlNode::List& YamlFields::list(const YamlNode& value, std::string_view name) const {
  const auto* list = value.get_if<YamlNode::List>();
  if (list == nullptr) error(value, fmt::format("{} is {}, not a list", name, value.kind()));
  return *list;
}

void YamlFields::error(const YamlNode& at, std::string_view message) const {
  Error e(ErrorCode::kInvalidArgument, std::string(message));
  e.add_context({ErrorPlace::Kind::kFile, file_, fmt::format("in {}, line {}", file_, at.line())});
  throw e;
}

}  // namespace assay
