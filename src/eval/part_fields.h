// What the files of evaluations and of other parts have in common: their members, and the checksum at the
// end.
#pragma once

#include <string>
#include <string_view>

#include "base/json_fields.h"
#include "base/json_writer.h"
#include "eval/evaluation.h"

namespace assay::eval {

/// With members that only these files have.
class PartFields : public JsonFields {
 public:
  using JsonFields::JsonFields;
  ExactSum sum(const JsonValue& object, std::string_view key) const;
  Ranges ranges(const JsonValue& object, std::string_view key) const;
  Entries entries(const JsonValue& object, std::string_view key) const;
  /// As write_identity() wrote it.
  Identity identity(const JsonValue& document) const;
  /// Throws Error unless the text ends with its checksum.
  void require_whole(std::string_view text) const;
};

/// Version, model, data and options, as members of the object that is open.
void write_identity(JsonWriter& json, const Identity& identity);
/// The document, which ends with its object, with a checksum as its last member.
std::string with_checksum(std::string document);

}  // namespace assay::eval
