#include "cli/run_shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "base/atomic_file.h"
#include "base/hash.h"
#include "base/json_fields.h"
#include "base/log.h"
#include "base/mapped_file.h"
#include "run/results.h"
#include "run/savers.h"
#include "script/data_script.h"

namespace assay::cli {
namespace {

constexpr const char* kRunResultsKind = "run's results";
constexpr const char* kRunInputsKind = "run's inputs";

/// Files that a run writes, and what only says how it reports.
constexpr std::string_view kRunReports[] = {"--save-inputs",
                                            "--save-outputs",
                                            "--save-input-blob",
                                            "--save-accuracy-results",
                                            "--save-verdict",
                                            "--json",
                                            "--csv",
                                            "--all",
                                            "--save-onnx",
                                            "--save-tactics",
                                            "--save-settings",
                                            "--save-heatmaps"};

std::string run_part_path(const std::string& path) { return path + ".part"; }

std::string results_digest(const std::string& path) {
  return fmt::format("xxh3:{:016x}", hash_of(MappedFile::open(path)->bytes()));
}

/// A runner's name without the time at which it began: engine-runner-N0.
std::string lasting_name(const std::string& name) {
  const size_t number = name.find("-N");
  if (number == std::string::npos) return name;
  const size_t end = name.find_first_not_of("0123456789", number + 2);
  return end == number + 2 || end == std::string::npos || name[end] != '-' ? name : name.substr(0, end);
}

void take_out_times(const std::string& path) {
  RunResults results = load_run_results(path);
  for (auto& [name, iterations] : results.runners) {
    name = lasting_name(name);
    for (IterationResult& r : iterations) {
      r.runner_name = name;
      r.runtime.reset();
    }
  }
  save_run_results(results, path);
}

void save_run_part(const eval::PartOf& of, const std::string& path) {
  AtomicFile file(run_part_path(path));
  file.write(part_json(of, [&](JsonWriter& json) { json.key("file").value(results_digest(path)); }));
  file.commit();
}

}  // namespace

RunShard::RunShard(const CommandContext& context, const poly::RunSettings& settings, ShardChoice choice,
                   RunOptions& options)
    : choice_(std::move(choice)) {
  const auto saves = [&](std::string& path, bool has_results) {
    if (path.empty()) return;
    if (means_folder(path))
      log::critical(ErrorCode::kInvalidArgument,
                    "--shard: {} is a folder, and the part of a run is one file: name it, such as {}.json.",
                    path, path);
    saved_.push_back({path, has_results});
    path = choice_.path_of(path);
  };
  saves(options.save_outputs, true);
  saves(options.save_inputs, false);
  if (saved_.empty())
    log::critical(
        ErrorCode::kInvalidArgument,
        "The results of a shard are lost unless --save-outputs, or --save-inputs, names a file for them.");
  if (!options.load_outputs.empty())
    log::critical(ErrorCode::kInvalidArgument, "--shard cuts what is run: leave --load-outputs out.");
  DataOptions data{.random = options.data, .load_inputs = options.load_inputs};
  if (!settings.data.script.empty())
    data.script = script::parse_reference(settings.data.script, script::DataScript::kDefaultFunction);
  of_ = part_of(context, kRunResultsKind, options.model, data, kRunReports);
  std::shared_ptr<DataSource> source = options.source;
  if (source == nullptr && !options.load_inputs.empty()) source = saved_data(options.load_inputs);
  if (source == nullptr) source = random_data(options.data);
  source_ = std::make_shared<eval::ShardSource>(std::move(source), *choice_.shard);
  options.source = source_;
}

bool RunShard::is_empty() const {
  eval::PartOf part;
  source_->describe(part);
  return part.samples && part.covered.empty();
}

std::vector<std::string> RunShard::finish() {
  std::vector<std::string> paths;
  source_->describe(of_);
  for (const Saved& saved : saved_) {
    const std::string own = choice_.path_of(saved.path);
    if (saved.has_results) take_out_times(own);
    of_.kind = saved.has_results ? kRunResultsKind : kRunInputsKind;
    save_run_part(of_, own);
    paths.push_back(saved.path);
  }
  return paths;
}

bool has_run_part(const std::string& path) {
  std::error_code ec;
  return std::filesystem::exists(run_part_path(path), ec);
}

namespace {

/// Numbers of sets, in order.
std::vector<int64_t> numbers_of(const eval::Ranges& ranges) {
  std::vector<int64_t> numbers;
  for (const eval::Range& r : ranges.list())
    for (int64_t i = r.first; i < r.end; ++i) numbers.push_back(i);
  return numbers;
}

/// Iterations by their number.
class RunMerge {
 public:
  void add(const std::string& path) {
    if (!has_run_part(path))
      fail(ErrorCode::kInvalidArgument, "{} is no part of a run: {} is missing", path, run_part_path(path));
    const std::string name = run_part_path(path);
    const eval::PartFile part = eval::read_part(MappedFile::open(name)->bytes(), name);
    require(JsonFields(name).text(part.content, "file") == results_digest(path), ErrorCode::kInvalidArgument,
            "{} is not the file that {} describes: it was changed or damaged", path, name);
    if (of_)
      of_->add(part.of);
    else
      of_ = part.of;
    const std::vector<int64_t> numbers = numbers_of(part.of.covered);
    part.of.kind == kRunResultsKind ? add_results(path, numbers) : add_inputs(path, numbers);
  }
  const eval::PartOf& of() const { return *of_; }

  void save(const std::string& path) {
    if (of_->kind == kRunResultsKind) {
      RunResults all;
      for (size_t i = 0; i < names_.size(); ++i) {
        all.runners.emplace_back(names_[i], std::vector<IterationResult>());
        for (auto& [number, result] : results_[i]) all.runners.back().second.push_back(std::move(result));
      }
      return save_run_results(all, path);
    }
    InputData all;
    for (auto& [number, inputs] : inputs_) all.push_back(std::move(inputs));
    save_inputs(all, path);
  }

 private:
  static void require_count(const std::string& path, size_t found, size_t expected) {
    require(found == expected, ErrorCode::kInvalidArgument,
            "{} has {} iterations, and {} says that it has {}", path, found, run_part_path(path), expected);
  }
  void add_results(const std::string& path, const std::vector<int64_t>& numbers) {
    RunResults part = load_run_results(path);
    if (numbers.empty()) return;
    std::vector<std::string> names;
    for (const auto& [name, iterations] : part.runners) names.push_back(name);
    if (names_.empty()) {
      names_ = names;
      results_.resize(names.size());
    }
    require(names == names_, ErrorCode::kInvalidArgument, "{} has other runners than those before", path);
    for (size_t i = 0; i < names.size(); ++i) {
      std::vector<IterationResult>& iterations = part.runners[i].second;
      require_count(path, iterations.size(), numbers.size());
      for (size_t k = 0; k < numbers.size(); ++k) results_[i].emplace(numbers[k], std::move(iterations[k]));
    }
  }
  void add_inputs(const std::string& path, const std::vector<int64_t>& numbers) {
    InputData part = load_inputs(path);
    require_count(path, part.size(), numbers.size());
    for (size_t k = 0; k < numbers.size(); ++k) inputs_.emplace(numbers[k], std::move(part[k]));
  }

  std::optional<eval::PartOf> of_;
  std::vector<std::string> names_;
  std::vector<std::map<int64_t, IterationResult>> results_;  ///< by runner
  std::map<int64_t, StoredTensorList> inputs_;
};

}  // namespace

void merge_run_parts(const std::vector<std::string>& paths, const std::string& output, bool incomplete) {
  RunMerge all;
  for (const std::string& path : paths) with_context([&] { return "in " + path; }, [&] { all.add(path); });
  const eval::PartOf& of = all.of();
  if (!of.is_complete() && !incomplete) refuse_missing_sets(of);
  log::info("{} iteration(s) of {}", of.covered.count(),
            of.samples ? std::to_string(*of.samples) : "an unknown number");
  log::info("Saving the {} of {} file(s) to {}", of.kind, paths.size(), output);
  const bool is_complete = of.is_complete();
  all.save(output);
  std::error_code ec;
  if (is_complete)
    std::filesystem::remove(run_part_path(output), ec);
  else
    save_run_part(of, output);
}

}  // namespace assay::cli
