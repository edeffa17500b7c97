// From poly::RunSettings back to a command line of `run`: what --settings puts before the line's own options.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "assay/backend_set.h"
#include "cli/args.h"
#include "poly/run_table.h"

namespace assay::cli {

/// A description of a run as a command line has it.
struct SaidSettings {
  std::vector<GivenOption> options;
  /// Members that no option, or no option alone, can say: two comparison functions of one kind, for one.
  std::set<std::string_view> unsaid;
};
SaidSettings words_of(const poly::RunSettings& settings, const BackendSet& backends);

/// The member whose options say this one, too: itself, where none other does.
std::string_view spokesman(std::string_view member);

}  // namespace assay::cli
