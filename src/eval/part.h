// Parts of work over a data set other than evaluations: calibrations, ranges, runs. What a part found is its
// content, which its kind defines; what it is of, and whether parts belong together, is the same for all.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_value.h"
#include "base/json_writer.h"
#include "eval/evaluation.h"
#include "eval/ranges.h"
#include "run/data_source.h"

namespace assay::eval {

/// The subject of a part.
struct PartOf {
  std::string kind;  ///< `calibration`, ...
  Identity identity;
  std::optional<int64_t> samples;  ///< of the whole set; nothing: not known
  Ranges covered;
  /// Of all samples that the source gave, those of other shards included; nothing: it was not read to its
  /// end.
  std::optional<uint64_t> stream;

  bool is_complete() const { return samples && covered.count() == *samples; }
  /// Takes the samples of another part for its own. Throws Error (kInvalidArgument) for one of something
  /// else, and for samples that both have.
  void add(const PartOf& other);
};

/// Writes the members of the object that is open.
using WriteContent = std::function<void(JsonWriter& json)>;
/// JSON, the same bytes for the same part; ends with a checksum.
std::string part_json(const PartOf& of, const WriteContent& write);

struct PartFile {
  PartOf of;
  JsonValue content;  ///< an object
};
/// True for the text of a part, damaged or not.
bool is_part(std::string_view text);
/// `name`: the file in errors. Throws Error (kInvalidArgument) for damaged text and other versions' formats.
PartFile read_part(std::string_view text, const std::string& name);

/// The data of one shard: every N-th set of a source, which is read to its end.
class ShardSource final : public DataSource {
 public:
  ShardSource(std::shared_ptr<DataSource> source, Shard shard) : source_(std::move(source)), shard_(shard) {}
  void prepare() override { source_->prepare(); }
  void begin(const std::vector<TensorInfo>& inputs) override { source_->begin(inputs); }
  std::optional<TensorList> next() override;

  /// Once next() has returned nothing: the number of all sets, those that it gave, and the digest of all.
  void describe(PartOf& part) const;

 private:
  std::shared_ptr<DataSource> source_;
  Shard shard_;
  int64_t index_ = 0;
  Ranges given_;
  uint64_t digest_ = 0;
  bool has_ended_ = false;
};

}  // namespace assay::eval
