// --shard: which part of the data a process has, and what the file of a part says of itself.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cli/command.h"
#include "cli/options/data_loader.h"
#include "eval/part.h"
#include "eval/shard.h"
#include "run/model_loader.h"

namespace assay::cli {

/// --shard. `what`: a sentence about what a shard does, and about its file.
Option shard_option(const std::string& what);

/// The part of this process.
struct ShardChoice {
  std::optional<eval::Shard> shard;  ///< nothing: all
  bool is_automatic = false;         ///< the shards write files of their own, and the last one merges them

  /// Where this process writes what is meant for `path`.
  std::string path_of(const std::string& path) const;
};
/// By --shard. `asks_mpi`: without the option, what mpirun started is a shard. Throws Error.
ShardChoice read_shard(const ParsedArgs& args, bool asks_mpi);

/// The words of the options that determine results, by name: without those that name files of results and
/// data, the log, how much memory is used, and `neutral`.
eval::Entries deciding_options(const CommandContext& context, std::span<const std::string_view> neutral);

/// The subject of a part of a command over a model and data.
eval::PartOf part_of(const CommandContext& context, const std::string& kind, const ModelLoaderOptions& model,
                     const DataOptions& data, std::span<const std::string_view> neutral);

/// Saves a part, and says so.
void save_part(const std::string& text, const std::string& path, const ShardChoice& choice);
/// Throws Error naming the sets of data that a merged part lacks.
[[noreturn]] void refuse_missing_sets(const eval::PartOf& of);

}  // namespace assay::cli
