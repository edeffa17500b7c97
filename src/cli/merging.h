// `assay merge`: the files of shards as one, whatever kind of work they are of.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cli/shards.h"
#include "script/metric_script.h"

namespace assay::cli {

/// Merges files in any order and writes the result: a part again where samples are missing, which only
/// `incomplete` allows, else what one process would have written. Says what it did. Throws Error naming the
/// files that do not belong together, and the samples that are missing.
/// `functions`: of metrics that measure the whole set of an evaluation.
void merge_files_to(const std::vector<std::string>& paths, const std::string& output, bool incomplete,
                    std::span<const std::shared_ptr<script::MetricScript>> functions = {});

/// Where shards have files of their own: merges those that they have saved for `path`, as soon as all are
/// there.
void merge_automatic_parts(const std::string& path, const ShardChoice& choice);

}  // namespace assay::cli
