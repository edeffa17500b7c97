// Converts poly::RunSettings to a command line of `run`, which --settings puts before the line's own.
#pragma once

#include <functional>
#include <map>
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

/// `args` with the settings of a file in front: options of the line take precedence over the file. `parser`
/// has the options of `run`. Throws Error naming the file: for missing files that its settings name, and for
/// contradictions between the two.
class SettingsFile {
 public:
  SettingsFile(std::string path, const BackendSet& backends);
  ParsedArgs before(const ParsedArgs& args, const ArgParser& parser);
  /// Adds the members that options cannot express to the settings read from the line.
  void complete(poly::RunSettings& settings) const;
  /// Marks an error about an option that is from the file, not the line.
  void explain(std::string_view message) const;
  const std::string& path() const { return path_; }

 private:
  void require_file(const GivenOption& said) const;

  std::string path_;
  poly::RunSettings settings_;
  SaidSettings words_;
  const BackendSet& backends_;
  std::map<std::string, std::string, std::less<>> touched_;  // members, each with an option of the line
  std::vector<GivenOption> used_;                            // those of words_ that remain in effect
};

}  // namespace assay::cli
