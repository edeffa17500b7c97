#include "cli/merging.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/atomic_file.h"
#include "base/json_value.h"
#include "base/log.h"
#include "base/mapped_file.h"
#include "cli/bench_shards.h"
#include "cli/conformance_counts.h"
#include "cli/eval_text.h"
#include "cli/run_shards.h"
#include "debug/value_ranges.h"
#include "engine/objects/calibration_statistics.h"
#include "eval/part.h"
#include "poly/evaluation.h"

namespace assay::cli {
namespace {

using eval::PartFile;
using eval::PartOf;

void save_merged(const std::string& text, size_t files, const std::string& path) {
  log::info("Saving the result of {} file(s) to {}", files, path);
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

/// The findings of parts of one kind: read from the first, and added to.
class PartContent {
 public:
  virtual ~PartContent() = default;
  virtual void add(const JsonValue& content, const std::string& name) = 0;
  virtual void write(JsonWriter& json) const = 0;
  /// The file of one process.
  virtual std::string whole() const = 0;
  virtual std::string summary() const = 0;
};

class CalibrationContent final : public PartContent {
 public:
  void add(const JsonValue& content, const std::string& name) override {
    CalibrationStatistics part = CalibrationStatistics::read(content, name);
    if (all_)
      all_->add(part);
    else
      all_ = std::move(part);
  }
  void write(JsonWriter& json) const override { all_->write(json); }
  std::string whole() const override {
    return all_->table([](const std::string& sentence) { log::warning("{}", sentence); }).str();
  }
  std::string summary() const override {
    return fmt::format("A calibration cache from {} set(s) of inputs", all_->sets());
  }

 private:
  std::optional<CalibrationStatistics> all_;
};

class RangesContent final : public PartContent {
 public:
  void add(const JsonValue& content, const std::string& name) override {
    debug::RangeStudy part = debug::RangeStudy::read(content, name);
    const std::string model = content.text_of("path"), backend = content.text_of("backend");
    if (!all_) {
      all_ = std::move(part);
      path_ = model;
      backend_ = backend;
      return;
    }
    all_->add(part);
    path_ = std::min(path_, model);
    require(backend_ == backend, ErrorCode::kInvalidArgument, "one is of the backend {}, and the other of {}",
            backend_, backend);
  }
  void write(JsonWriter& json) const override {
    json.key("path").value(path_).key("backend").value(backend_);
    all_->write(json);
  }
  std::string whole() const override { return ranges_json(*all_, path_, backend_, all_->formats().front()); }
  std::string summary() const override {
    return fmt::format("{} tensor(s) over {} iteration(s)", all_->ranges().size(), all_->iterations());
  }

 private:
  std::optional<debug::RangeStudy> all_;
  std::string path_, backend_;
};

class ConformanceContent final : public PartContent {
 public:
  void add(const JsonValue& content, const std::string& name) override {
    all_.add(ConformanceCounts::read(content, name));
  }
  void write(JsonWriter& json) const override { all_.write(json); }
  std::string whole() const override {
    std::string text;
    JsonWriter json([&](std::string_view piece) { text += piece; });
    json.begin_object();
    all_.write(json);
    json.end_object();
    return text + "\n";
  }
  std::string summary() const override { return all_.str(); }

 private:
  ConformanceCounts all_;
};

std::unique_ptr<PartContent> content_of(const std::string& kind, const std::string& name) {
  if (kind == "calibration") return std::make_unique<CalibrationContent>();
  if (kind == "ranges") return std::make_unique<RangesContent>();
  if (kind == "conformance") return std::make_unique<ConformanceContent>();
  fail(ErrorCode::kInvalidArgument, "{} is a part of a kind that this program does not know: '{}'", name,
       kind);
}

/// The first file before `end` that has some of the same samples.
size_t overlapping_file(const std::vector<eval::Ranges>& covered, size_t end, const eval::Ranges& own) {
  for (size_t i = 0; i < end; ++i)
    if (!covered[i].common(own).empty()) return i;
  return 0;
}

void merge_parts(const std::vector<std::string>& paths, const std::string& output, bool incomplete) {
  std::optional<PartOf> of;
  std::unique_ptr<PartContent> content;
  std::vector<eval::Ranges> covered;
  for (const std::string& path : paths) {
    const PartFile part = eval::read_part(MappedFile::open(path)->bytes(), path);
    covered.push_back(part.of.covered);
    try {
      if (of)
        of->add(part.of);
      else
        of = part.of, content = content_of(part.of.kind, path);
      content->add(part.content, path);
    } catch (Error& e) {
      const size_t other = overlapping_file(covered, covered.size() - 1, part.of.covered);
      if (covered.size() > 1) e.add_context(fmt::format("in {} and {}", paths[other], path));
      throw;
    }
  }
  if (!of->is_complete() && !incomplete) refuse_missing_sets(*of);
  log::info("{}", content->summary());
  if (of->is_complete()) return save_merged(content->whole(), paths.size(), output);
  save_merged(part_json(*of, [&](JsonWriter& json) { content->write(json); }), paths.size(), output);
}

void merge_evaluations(const std::vector<std::string>& paths, const std::string& output, bool incomplete,
                       std::span<const std::shared_ptr<script::MetricScript>> functions) {
  eval::Evaluation all = eval::merge_files(paths);
  try {
    all.measure_sets(functions);
  } catch (Error& e) {
    if (functions.empty()) e.set_remedy("Name it: --metric-script FILE.py:FUNCTION.");
    throw;
  }
  if (!incomplete) {
    try {
      poly::require_complete(all);
    } catch (Error& e) {
      if (all.samples)
        e.set_remedy("This evaluates only them: " + evaluation_command(all, all.missing()) +
                     "\n--incomplete merges what is there.");
      throw;
    }
  }
  log::info("{}", evaluation_text(all));
  log::info("Saving the result of {} file(s) to {}", paths.size(), output);
  save_evaluation(all, output);
}

}  // namespace

void merge_files_to(const std::vector<std::string>& paths, const std::string& output, bool incomplete,
                    std::span<const std::shared_ptr<script::MetricScript>> functions) {
  require(!paths.empty(), ErrorCode::kInvalidArgument, "there are no files to merge");
  const std::string& first = paths.front();
  if (has_run_part(first)) return merge_run_parts(paths, output, incomplete);
  const std::shared_ptr<const MappedFile> file = MappedFile::open(first);
  if (eval::is_part(file->bytes())) return merge_parts(paths, output, incomplete);
  if (is_bench_result(file->bytes())) return merge_bench_results(paths, output);
  merge_evaluations(paths, output, incomplete, functions);
}

void merge_automatic_parts(const std::string& path, const ShardChoice& choice) {
  if (!choice.is_automatic) return;
  const int64_t count = choice.shard->count;
  std::vector<std::string> paths;
  for (int64_t i = 0; i < count; ++i) {
    paths.push_back(eval::shard_path(path, {i, count}));
    std::error_code ec;
    if (!std::filesystem::exists(paths.back(), ec)) return;
  }
  log::info("All {} shards are done", count);
  merge_files_to(paths, path, /*incomplete=*/false);
}

}  // namespace assay::cli
