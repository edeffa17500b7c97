// Shards of `assay run`: each has some of the sets of inputs, and saves results or inputs that merge.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/shards.h"
#include "poly/run_parts.h"
#include "run/run_options.h"

namespace assay::cli {

/// The part of a run that one process has.
class RunShard {
 public:
  /// `options`: afterwards of the shard's sets of inputs alone; results go to files of its own where the
  /// choice is automatic. Throws Error for a run that saves neither results nor inputs to a file, and for
  /// sources that cannot be cut.
  RunShard(const CommandContext& context, const poly::RunSettings& settings, ShardChoice choice,
           RunOptions& options);
  /// The run has ended, and none of the sets was this shard's.
  bool is_empty() const;
  /// When the run has ended: says next to each file which part it is, takes out of results what differs from
  /// run to run (times). Returns the paths of the whole run's files.
  std::vector<std::string> finish();
  const ShardChoice& choice() const { return choice_; }

 private:
  struct Saved {
    std::string path;  ///< as the options name it
    bool has_results = false;
  };
  ShardChoice choice_;
  eval::PartOf of_;
  std::shared_ptr<eval::ShardSource> source_;
  std::vector<Saved> saved_;
};

/// True for a file of results or inputs that a shard has saved.
bool has_run_part(const std::string& path);
/// As merge_files_to().
void merge_run_parts(const std::vector<std::string>& paths, const std::string& output, bool incomplete);

}  // namespace assay::cli
