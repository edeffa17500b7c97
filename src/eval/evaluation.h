// The result of an evaluation, of all samples or of some. Results merge exactly, in any order, so that shards
// give the same bytes as one process.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "eval/ranges.h"
#include "eval/shard.h"
#include "eval/tally.h"
#include "script/metric_script.h"

namespace assay::eval {

using Entries = std::vector<std::pair<std::string, std::string>>;

/// The subject of an evaluation. Only results of the same identity are merged.
struct Identity {
  std::string version;                   ///< of this program
  std::string model_name, model_digest;  ///< file name and digest of the content
  Entries data;                          ///< what the data are: kind, name, size, ...
  Entries options;                       ///< that determine the results, by name

  bool operator==(const Identity&) const = default;
};
/// A sentence without a full stop about what differs; empty: nothing. The model's name may differ.
std::string difference(const Identity& a, const Identity& b);

/// A metric of an output of a backend.
struct Row {
  std::string metric, backend, output;
  Kind kind = Kind::kMean;
  bool low_is_worse = false;
  Tally tally;
  Ranking worst;
  /// Of kSet: the numbers of each sample, and what the function makes of all of them, once all are there.
  std::map<int64_t, std::vector<double>> records = {};
  std::optional<double> whole = std::nullopt;
};

/// A sample that was left out.
struct BadSample {
  int64_t sample = 0;
  std::string reason;
};

/// The verdict of the float64 reference on a backend for one of the worst samples.
struct JudgedSample {
  int64_t sample = 0;
  std::string backend;
  std::string verdict;        ///< verdict_name()
  std::string node, op_type;  ///< where the error begins, as far as known
  std::string output;
};

struct BackendTimes {
  std::string backend;
  TimeTally times;
};

struct Evaluation {
  Identity identity;
  /// Of the whole data set; nothing as long as a stream has not ended.
  std::optional<int64_t> samples;
  Ranges covered;        ///< samples that were evaluated, or left out as bad
  uint64_t content = 0;  ///< of the samples' data: a sum that does not depend on their order
  /// The same of all samples that a shard of a stream has read, its own and others'; nothing for a stream
  /// that it has not read to its end, and where it covers all.
  std::optional<uint64_t> stream = std::nullopt;
  size_t worst = 0;         ///< how many samples each ranking holds
  size_t judged_worst = 0;  ///< how many of each ranking are judged
  std::vector<Row> rows;
  int64_t bad = 0;
  /// The first kBadNamed of them.
  std::vector<BadSample> bad_samples;
  std::vector<JudgedSample> judged;
  /// Only where times were asked for: they differ from run to run, all else does not.
  std::vector<BackendTimes> times;

  static constexpr size_t kBadNamed = 100;

  bool is_complete() const { return samples && covered.count() == *samples; }
  /// The samples of the whole set that are not covered; only with `samples`.
  Ranges missing() const;
  void add_bad(BadSample bad_sample);
  /// Adds what another one covers. Throws Error (kInvalidArgument) for another identity, and for samples that
  /// both cover.
  void add(const Evaluation& other);
  /// Samples in the first `most` places of a ranking.
  Ranges ranked(size_t most) const;
  /// For one that is complete: its samples are those of the stream. Throws Error (kInvalidArgument)
  /// otherwise.
  void take_for_whole();
  /// Has those of the functions that are over the set measure it, if it is complete. Throws Error
  /// (kInvalidArgument) where a metric over the set has no function.
  void measure_sets(std::span<const std::shared_ptr<script::MetricScript>> functions);
};

/// JSON, the same bytes for the same result; ends with a checksum.
std::string to_json(const Evaluation& evaluation);
/// `name`: the file in errors. Throws Error (kInvalidArgument) for damaged text and other versions' formats.
Evaluation from_json(std::string_view text, const std::string& name);
void save_evaluation(const Evaluation& evaluation, const std::string& path);
Evaluation load_evaluation(const std::string& path);

/// Merges files, in any order. Throws Error naming the file that is damaged or of something else, and the two
/// that cover the same samples.
Evaluation merge_files(std::span<const std::string> paths);

/// The file of a shard next to the whole result's: result.3-of-8.json for result.json.
std::string shard_path(const std::string& path, const Shard& shard);
/// Merges the files of all shards at `path` as soon as they are there, and saves the result there: each shard
/// calls it when it is done, and the last one, or each of several that end together, writes the same bytes.
/// Nothing while one is missing. Throws as merge_files().
std::optional<Evaluation> merge_shards(const std::string& path, int64_t count,
                                       std::span<const std::shared_ptr<script::MetricScript>> functions = {});

}  // namespace assay::eval
