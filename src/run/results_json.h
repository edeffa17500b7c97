// The structure of a result, input or replay file, whose long strings stay in the file; used within this
// module.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"

namespace assay::internal {

struct JsonNode {
  enum class Kind : uint8_t { kNull, kTruth, kNumber, kString, kList, kDict };

  Kind kind = Kind::kNull;
  std::string_view key;            ///< within a dict
  std::string_view text;           ///< of a string or a number; of a container its text in the file
  std::vector<JsonNode> children;  ///< of a list or a dict

  bool is_dict() const { return kind == Kind::kDict; }
  bool is_list() const { return kind == Kind::kList; }
  bool is_string() const { return kind == Kind::kString; }
  /// The last member of that key, as Python keeps it; null when there is none.
  const JsonNode* member(std::string_view name) const;
  /// The value of polygraphy_class or of the marker key of old versions; empty for a plain dict.
  std::string_view class_name() const;
};

/// A parsed file. Views of its nodes point into the mapping or into `unescaped`.
struct JsonDocument {
  std::shared_ptr<const MappedFile> file;
  std::deque<std::string> unescaped;
  JsonNode root;
};

/// Throws Error: kNotFound, kIo, or kInvalidArgument with line and column.
JsonDocument parse_json_file(const std::string& path);

/// The type of a value as decoded by Python, for messages: list, collections.OrderedDict, RunResults.
std::string python_class(const JsonNode& node);
/// The beginning of a value, as it stands in the file.
std::string excerpt(const JsonNode& node);

}  // namespace assay::internal
