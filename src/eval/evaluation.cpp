#include "eval/evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "assay/error.h"
#include "eval/coverage.h"

namespace assay::eval {
namespace {

/// The first entry that differs.
std::string difference(const char* what, const Entries& a, const Entries& b) {
  const auto value = [](const Entries& entries, const std::string& name) -> std::string {
    for (const auto& [key, text] : entries)
      if (key == name) return "'" + text + "'";
    return "not given";
  };
  for (const Entries* entries : {&a, &b})
    for (const auto& [name, text] : *entries)
      if (value(a, name) != value(b, name))
        return fmt::format("{} differ: {} is {} and {}", what, name, value(a, name), value(b, name));
  return a == b ? "" : fmt::format("{} are in different order", what);
}

bool is_same_row(const Row& a, const Row& b) {
  return a.metric == b.metric && a.backend == b.backend && a.output == b.output && a.kind == b.kind &&
         a.low_is_worse == b.low_is_worse;
}

void add_times(std::vector<BackendTimes>& to, const std::vector<BackendTimes>& from) {
  for (const BackendTimes& t : from) {
    const auto known =
        std::find_if(to.begin(), to.end(), [&](const BackendTimes& k) { return k.backend == t.backend; });
    if (known == to.end())
      to.push_back(t);
    else
      known->times.add(t.times);
  }
}

}  // namespace

std::string difference(const Identity& a, const Identity& b) {
  if (a.version != b.version) return fmt::format("they are of the versions {} and {}", a.version, b.version);
  if (a.model_digest != b.model_digest)
    return fmt::format("the models differ: {} has the digest {}, and {} {}", a.model_name, a.model_digest,
                       b.model_name, b.model_digest);
  if (std::string d = difference("the data", a.data, b.data); !d.empty()) return d;
  return difference("the options", a.options, b.options);
}

Ranges Evaluation::missing() const { return Ranges(0, samples.value_or(0)).without(covered); }

void Evaluation::add_bad(BadSample bad_sample) {
  ++bad;
  const auto before = [](const BadSample& a, const BadSample& b) { return a.sample < b.sample; };
  bad_samples.insert(std::upper_bound(bad_samples.begin(), bad_samples.end(), bad_sample, before),
                     std::move(bad_sample));
  if (bad_samples.size() > kBadNamed) bad_samples.pop_back();
}

Ranges Evaluation::ranked(size_t most) const {
  Ranges ranges;
  for (const Row& row : rows)
    for (size_t i = 0; i < std::min(most, row.worst.list().size()); ++i) {
      const int64_t sample = row.worst.list()[i].sample;
      ranges.add(sample, sample + 1);
    }
  return ranges;
}

void Evaluation::take_for_whole() {
  require(
      !stream || *stream == content, ErrorCode::kInvalidArgument,
      "the samples that they have evaluated are not those that the loader gave each of them: their digest "
      "is {:016x}, and that of the whole set {:016x}",
      content, stream.value_or(0));
  stream.reset();
}

void Evaluation::measure_sets(std::span<const std::shared_ptr<script::MetricScript>> functions) {
  if (!is_complete()) return;
  for (Row& row : rows) {
    if (row.kind != Kind::kSet || row.whole) continue;
    const auto known = std::find_if(functions.begin(), functions.end(), [&](const auto& function) {
      return function->name() == row.metric && function->is_over_set();
    });
    if (known == functions.end())
      fail(ErrorCode::kInvalidArgument, "the metric {} measures the whole set, and its script is not known",
           row.metric);
    std::vector<std::vector<double>> records;
    for (const auto& [sample, numbers] : row.records) records.push_back(numbers);
    row.whole = (*known)->whole(records);
  }
}

void Evaluation::add(const Evaluation& other) {
  require_together(*this, other, {.kind = "evaluation", .sample = "samples", .data = "samples"});
  require(rows.size() == other.rows.size() &&
              std::equal(rows.begin(), rows.end(), other.rows.begin(), is_same_row) && worst == other.worst &&
              judged_worst == other.judged_worst,
          ErrorCode::kInvalidArgument, "they are not of the same evaluation: the metrics differ");
  take_coverage(*this, other);
  content += other.content;
  if (is_complete()) take_for_whole();
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].tally.add(other.rows[i].tally);
    rows[i].worst.add(other.rows[i].worst);
    rows[i].records.insert(other.rows[i].records.begin(), other.rows[i].records.end());
    rows[i].whole.reset();
  }
  const int64_t all_bad = bad + other.bad;
  for (const BadSample& b : other.bad_samples) add_bad(b);
  bad = all_bad;
  judged.insert(judged.end(), other.judged.begin(), other.judged.end());
  const Ranges still = ranked(judged_worst);
  std::erase_if(judged, [&](const JudgedSample& j) { return !still.contains(j.sample); });
  std::stable_sort(judged.begin(), judged.end(),
                   [](const JudgedSample& a, const JudgedSample& b) { return a.sample < b.sample; });
  add_times(times, other.times);
}

Evaluation merge_files(std::span<const std::string> paths) {
  require(!paths.empty(), ErrorCode::kInvalidArgument, "there are no files to merge");
  std::vector<Ranges> covered;
  std::optional<Evaluation> all;
  for (const std::string& path : paths) {
    Evaluation part = load_evaluation(path);
    covered.push_back(part.covered);
    if (!all) {
      all = std::move(part);
      continue;
    }
    try {
      all->add(part);
    } catch (Error& e) {
      size_t other = 0;
      while (other + 1 < covered.size() && covered[other].common(part.covered).empty()) ++other;
      if (other + 1 == covered.size()) other = 0;
      e.add_context(fmt::format("in {} and {}", paths[other], path));
      throw;
    }
  }
  return std::move(*all);
}

std::string shard_path(const std::string& path, const Shard& shard) {
  const std::filesystem::path whole(path);
  std::filesystem::path name = whole.stem();
  name += "." + shard.text();
  name += whole.extension();
  return (whole.parent_path() / name).string();
}

std::optional<Evaluation> merge_shards(const std::string& path, int64_t count,
                                       std::span<const std::shared_ptr<script::MetricScript>> functions) {
  std::vector<std::string> paths;
  for (int64_t i = 0; i < count; ++i) {
    paths.push_back(shard_path(path, {i, count}));
    std::error_code ec;
    if (!std::filesystem::exists(paths.back(), ec)) return std::nullopt;
  }
  Evaluation all = merge_files(paths);
  if (!all.is_complete()) return std::nullopt;
  all.measure_sets(functions);
  save_evaluation(all, path);
  return all;
}

}  // namespace assay::eval
