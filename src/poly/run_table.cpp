#include "poly/run_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace assay {

std::string Option::label() const { return fmt::format("{}", fmt::join(names, "/")); }

namespace poly {

const std::vector<RunGroup>& run_groups() {
  static const std::vector<RunGroup> kGroups = [] {
    std::vector<RunGroup> all;
    for (auto part :
         {log_rows, runner_rows, model_rows, data_rows, comparison_rows, engine_rows, output_rows})
      for (RunGroup& group : part()) all.push_back(std::move(group));
    return all;
  }();
  return kGroups;
}

const std::vector<const RunRow*>& run_members() {
  static const std::vector<const RunRow*> kMembers = [] {
    std::vector<const RunRow*> members;
    for (const RunGroup& group : run_groups())
      for (const RunRow& row : group.rows) {
        const auto is_same = [&](const RunRow* other) { return other->member == row.member; };
        if (row.has_member() && std::none_of(members.begin(), members.end(), is_same))
          members.push_back(&row);
      }
    std::stable_sort(members.begin(), members.end(),
                     [](const RunRow* a, const RunRow* b) { return a->part < b->part; });
    return members;
  }();
  return kMembers;
}

const RunRow* find_run_option(std::string_view name) {
  for (const RunGroup& group : run_groups())
    for (const RunRow& row : group.rows)
      if (row.has_option() && row.option.names.front() == name) return &row;
  return nullptr;
}

std::vector<Option> options_of(std::string_view title) {
  std::vector<Option> options;
  for (const RunGroup& group : run_groups())
    if (group.title == title)
      for (const RunRow& row : group.rows)
        if (row.has_option()) options.push_back(row.option);
  return options;
}

}  // namespace poly
}  // namespace assay
