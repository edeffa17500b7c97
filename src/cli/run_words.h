// Converts poly::RunSettings to a command line of `run`, which --settings puts before the line's own.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "assay/backend_set.h"
#include "cli/args.h"
#include "poly/run_table.h"

namespace assay::cli {

/// The settings of a run as words of a command line.
struct SaidSettings {
  std::vector<GivenOption> options;
  /// Members that options cannot express, such as two comparison functions of one kind.
  std::set<std::string_view> unsaid;
};
SaidSettings words_of(const poly::RunSettings& settings, const BackendSet& backends);

/// The member whose options say this one, too: itself, where none other does.
std::string_view spokesman(std::string_view member);

}  // namespace assay::cli
