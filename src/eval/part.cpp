#include "eval/part.h"

#include <fmt/format.h>

#include "assay/error.h"
#include "base/hash.h"
#include "eval/coverage.h"
#include "eval/part_fields.h"
#include "run/coerce_inputs.h"

namespace assay::eval {
namespace {

constexpr std::string_view kPartFormat = "assay part 1";
constexpr std::string_view kPartFormats = "{\n    \"format\": \"assay part ";

}  // namespace

void PartOf::add(const PartOf& other) {
  require(kind == other.kind, ErrorCode::kInvalidArgument, "one is of a {}, and the other of a {}", kind,
          other.kind);
  require_together(*this, other, {.kind = kind, .sample = "sets", .data = "data"});
  take_coverage(*this, other);
}

std::string part_json(const PartOf& of, const WriteContent& write) {
  std::string text;
  JsonWriter json([&](std::string_view piece) { text += piece; });
  json.begin_object().key("format").value(kPartFormat).key("kind").value(of.kind);
  write_identity(json, of.identity);
  json.key("samples");
  of.samples ? json.value(*of.samples) : json.null();
  json.key("covered").value(of.covered.text());
  if (of.stream) json.key("stream").value(fmt::format("{:016x}", *of.stream));
  json.key("content").begin_object();
  write(json);
  json.end_object().end_object();
  return with_checksum(std::move(text));
}

bool is_part(std::string_view text) { return text.starts_with(kPartFormats); }

PartFile read_part(std::string_view text, const std::string& name) {
  const PartFields fields(name);
  JsonValue document = parse_json(text, name);
  require(document.text_of("format") == kPartFormat, ErrorCode::kInvalidArgument,
          "{} is of another version of the format: '{}', and this program reads '{}'", name,
          document.text_of("format"), kPartFormat);
  fields.require_whole(text);
  PartFile part{.of = {.kind = fields.text(document, "kind"), .identity = fields.identity(document)}};
  const JsonValue* samples = document.find("samples");
  if (samples == nullptr) fields.refuse("'samples' is missing");
  if (samples->kind != JsonValue::Kind::kNull) part.of.samples = fields.count_of(*samples, "samples");
  part.of.covered = fields.ranges(document, "covered");
  if (document.find("stream") != nullptr)
    part.of.stream = fields.hexadecimal(fields.text(document, "stream"), "stream");
  part.content = fields.member(document, "content", JsonValue::Kind::kObject);
  return part;
}

std::optional<TensorList> ShardSource::next() {
  while (std::optional<TensorList> data = source_->next()) {
    const int64_t index = index_++;
    digest_ += hash_of(fmt::format("{} {}", index, fingerprint_of(*data)));
    if (index % shard_.count != shard_.index) continue;
    given_.add(index, index + 1);
    return data;
  }
  has_ended_ = true;
  return std::nullopt;
}

void ShardSource::describe(PartOf& part) const {
  part.covered = given_;
  if (!has_ended_) return;
  part.samples = index_;
  part.stream = digest_;
}

}  // namespace assay::eval
