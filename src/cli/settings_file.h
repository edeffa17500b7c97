// Files of settings: what --settings puts before a line of `run`.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "assay/backend_set.h"
#include "cli/args.h"
#include "cli/run_words.h"

namespace assay::cli {

/// `args` with the settings of a file before it: what an option of the line says counts, and not what the
/// file says of the same. `parser` has the options of `run`. Throws Error that names the file: for files that
/// its settings name and that are gone, and where the two contradict each other.
class SettingsFile {
 public:
  SettingsFile(std::string path, const BackendSet& backends);
  ParsedArgs before(const ParsedArgs& args, const ArgParser& parser);
  /// Puts what no option can say into what was read of the line.
  void complete(poly::RunSettings& settings) const;
  /// Says of an error that names an option which is the file's, not the line's.
  void explain(std::string_view message) const;
  const std::string& path() const { return path_; }

 private:
  void require_file(const GivenOption& said) const;

  std::string path_;
  poly::RunSettings settings_;
  SaidSettings words_;
  const BackendSet& backends_;
  std::map<std::string, std::string, std::less<>> touched_;  // members, each with an option of the line
  std::vector<GivenOption> used_;                            // what of words_ the line does not replace
};

}  // namespace assay::cli
