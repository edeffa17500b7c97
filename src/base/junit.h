// Reports in the XML of JUnit, which continuous integration reads.
#pragma once

#include <string>
#include <vector>

namespace assay {

struct TestResult {
  enum class How : unsigned char { kPassed, kFailed, kSkipped };
  std::string group, name;  ///< such as the runner, and its output
  How how = How::kPassed;
  std::string message = {};  ///< why it failed or was skipped
  double seconds = 0;
};

/// The document. Characters that XML does not have become visible.
std::string junit_text(const std::string& suite, const std::vector<TestResult>& results);
/// Throws Error (kIo).
void save_junit(const std::string& suite, const std::vector<TestResult>& results, const std::string& path);

}  // namespace assay
