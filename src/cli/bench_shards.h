// Results of `assay bench` on several machines, side by side.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::cli {

/// True for the text of what `bench --json` writes.
bool is_bench_result(std::string_view text);
/// Shows a table, a row for each backend and shapes on each machine, and writes it as JSON. Throws Error
/// naming the file that is no result, and for results of other versions.
void merge_bench_results(std::vector<std::string> paths, const std::string& output);

}  // namespace assay::cli
