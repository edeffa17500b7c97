#include "cli/shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "assay/version.h"
#include "base/atomic_file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mapped_file.h"
#include "cli/options/engine_search.h"
#include "eval/evaluate.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNeutralOptions[] = {"model_file",
                                                "-o",
                                                "--shard",
                                                "--load-inputs",
                                                "--data-loader-script",
                                                "--seed",
                                                "--iterations",
                                                "--junit",
                                                "--fail-if",
                                                "-v",
                                                "-q",
                                                "--verbosity",
                                                "--silent",
                                                "--log-format",
                                                "--log-file",
                                                "--memory-limit",
                                                "--extension",
                                                "--no-extensions",
                                                "--onnxrt-library",
                                                "--save-engine",
                                                "--save-timing-cache",
                                                "--report",
                                                "--trace",
                                                "--strict"};

std::string data_file_digest(const std::string& path) {
  return fmt::format("xxh3:{:016x}", hash_of(MappedFile::open(path)->bytes()));
}

/// The data, as far as they are known before they are read.
eval::Entries data_identity(const DataOptions& data) {
  if (data.script)
    return {{"kind", "script"},
            {"name", fs::path(data.script->path).filename().string() + ":" + data.script->function},
            {"content", data_file_digest(data.script->path)}};
  if (data.load_inputs.empty())
    return {{"kind", "random numbers"},
            {"seed", std::to_string(data.random.seed)},
            {"iterations", std::to_string(data.random.iterations)}};
  eval::Entries entries = {{"kind", "saved inputs"}};
  for (const std::string& path : data.load_inputs)
    for (const std::string& file : iteration_files(path))
      entries.emplace_back(fs::path(file).filename().string(), data_file_digest(file));
  return entries;
}

}  // namespace

Option shard_option(const std::string& what) {
  return {
      .names = {"--shard"},
      .help = what +
              " I/N is part I of N, with I from 0 to N - 1; auto, as MPI, a job array or an indexed job says "
              "(auto/N where it does not say how many there are): each shard then has a file of its own, and "
              "the last one merges them.",
      .metavar = "I/N|auto"};
}

std::string ShardChoice::path_of(const std::string& path) const {
  return is_automatic ? eval::shard_path(path, *shard) : path;
}

ShardChoice read_shard(const ParsedArgs& args, bool asks_mpi) {
  const eval::Environment environment = [](const char* name) { return std::getenv(name); };
  // Under the name trtexec there is no such option.
  const std::string word = args.declares("--shard") ? args.text("--shard").value_or("") : "";
  std::optional<eval::FoundShard> found;
  if (word.starts_with("auto")) {
    std::optional<int64_t> count;
    if (word.size() > 4) count = eval::parse_shard("0" + word.substr(4)).count;
    found = eval::shard_of_environment(environment, count);
    if (!found)
      log::critical(ErrorCode::kInvalidArgument,
                    "--shard auto: neither MPI nor a job array or indexed job has started this process. Name "
                    "the shard: "
                    "--shard I/N.");
  } else if (!word.empty()) {
    return {eval::parse_shard(word), false};
  } else if (asks_mpi) {
    found = eval::shard_of_mpi(environment);
  }
  if (!found) return {};
  log::info("{} says that this is shard {} of {}", found->origin, found->shard.index, found->shard.count);
  return {found->shard, true};
}

eval::Entries deciding_options(const CommandContext& context, std::span<const std::string_view> neutral) {
  const auto has = [](std::span<const std::string_view> names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  eval::Entries options;
  for (const GivenOption& o : context.args().occurrences())
    if (!has(kNeutralOptions, o.name) && !has(neutral, o.name))
      options.emplace_back(o.name, shell_line(o.words));
  std::stable_sort(options.begin(), options.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  return options;
}

eval::PartOf part_of(const CommandContext& context, const std::string& kind, const ModelLoaderOptions& model,
                     const DataOptions& data, std::span<const std::string_view> neutral) {
  return {.kind = kind,
          .identity = {.version = kVersion,
                       .model_name = fs::path(model.path).filename().string(),
                       .model_digest = eval::model_digest(model),
                       .data = data_identity(data),
                       .options = deciding_options(context, neutral)}};
}

void save_part(const std::string& text, const std::string& path, const ShardChoice& choice) {
  const std::string own = choice.path_of(path);
  log::info("Saving this part to {}", own);
  AtomicFile file(own);
  file.write(text);
  file.commit();
}

void refuse_missing_sets(const eval::PartOf& of) {
  if (!of.samples)
    fail(ErrorCode::kInvalidArgument,
         "it is not known how many sets of data there are: none of the files reached the end of the data");
  const eval::Ranges missing = eval::Ranges(0, *of.samples).without(of.covered);
  Error e(ErrorCode::kInvalidArgument,
          fmt::format("{} of {} sets of data are missing: {}", missing.count(), *of.samples, missing.text()));
  throw e.set_remedy("Run the shards again that have them. --incomplete merges what is there.");
}

}  // namespace assay::cli
