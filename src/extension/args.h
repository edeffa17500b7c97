// The command line as modules see it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::extension {

/// The options of the command line, for modules. Look-ups are by an option's first name and throw Error for
/// one that the command does not have.
class Args {
 public:
  virtual ~Args() = default;
  virtual bool has(std::string_view option) const = 0;
  /// Of the last time that it was given; empty when it was not, or took no word.
  virtual std::vector<std::string> words(std::string_view option) const = 0;
};

}  // namespace assay::extension
