#include "eval/part_fields.h"

#include <fmt/format.h>

#include "assay/error.h"
#include "base/hash.h"

namespace assay::eval {
namespace {

constexpr std::string_view kChecksum = ",\n    \"checksum\": \"xxh3:";

void write_entries(JsonWriter& json, const Entries& entries) {
  json.begin_object();
  for (const auto& [name, value] : entries) json.key(name).value(value);
  json.end_object();
}

}  // namespace

ExactSum PartFields::sum(const JsonValue& object, std::string_view key) const {
  try {
    return ExactSum::parse(text(object, key));
  } catch (const Error& e) {
    refuse(e.message());
  }
}

Ranges PartFields::ranges(const JsonValue& object, std::string_view key) const {
  const std::string& ranges = text(object, key);
  try {
    return ranges.empty() ? Ranges() : Ranges::parse(ranges);
  } catch (const Error& e) {
    refuse(e.message());
  }
}

Entries PartFields::entries(const JsonValue& object, std::string_view key) const {
  Entries entries;
  for (const auto& [name, value] : member(object, key, JsonValue::Kind::kObject).members) {
    if (value.kind != JsonValue::Kind::kString) refuse(fmt::format("'{}' is no text", name));
    entries.emplace_back(name, value.text);
  }
  return entries;
}

Identity PartFields::identity(const JsonValue& document) const {
  const JsonValue& model = member(document, "model", JsonValue::Kind::kObject);
  return {.version = text(document, "version"),
          .model_name = text(model, "name"),
          .model_digest = text(model, "digest"),
          .data = entries(document, "data"),
          .options = entries(document, "options")};
}

void PartFields::require_whole(std::string_view text) const {
  const size_t at = text.rfind(kChecksum);
  if (at == std::string_view::npos) refuse("its end is missing");
  const std::string expected = fmt::format("{}{:016x}\"\n}}\n", kChecksum, hash_of(text.substr(0, at)));
  if (text.substr(at) != expected) refuse("its checksum is that of other content");
}

void write_identity(JsonWriter& json, const Identity& identity) {
  json.key("version").value(identity.version);
  json.key("model").begin_object();
  json.key("name").value(identity.model_name).key("digest").value(identity.model_digest).end_object();
  json.key("data");
  write_entries(json, identity.data);
  json.key("options");
  write_entries(json, identity.options);
}

std::string with_checksum(std::string document) {
  // The last line is `}`, in place of which the checksum follows.
  document.resize(document.size() - 2);
  return document + fmt::format("{}{:016x}\"\n}}\n", kChecksum, hash_of(document));
}

}  // namespace assay::eval
