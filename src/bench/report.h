// Results as text, in trtexec's words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/tensor.h"
#include "bench/result.h"

namespace assay::bench {

using Lines = std::vector<std::string>;

/// Trace of the runs: warm-up, number of runs, and averages of `average_runs` successive runs; of many
/// averages the first and last 200.
Lines trace_lines(const Row& row, int64_t average_runs);
/// The performance summary.
Lines summary_lines(const Row& row, int64_t streams);
/// All rows in one table, if there are several.
Lines table_lines(const Result& result);
/// The time of each layer that took any.
Lines profile_lines(const LayerTimes& profile);
/// Two lines for each output: its name and shape, its elements.
Lines output_lines(const TensorList& outputs);
/// A line for each input with a range in a profile.
Lines range_lines(const std::vector<OptimizationProfile>& profiles);

/// Elements as numbers, in shortest round-trip form.
std::vector<std::string> element_texts(const Tensor& t);

}  // namespace assay::bench
