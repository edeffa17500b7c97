#include "base/junit.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/atomic_file.h"
#include "base/visible_text.h"

namespace assay {
namespace {

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : visible_text(text, Lines::kMany)) switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\n':
        out += "&#10;";
        break;
      default:
        out += c;
    }
  return out;
}

std::string case_text(const TestResult& r) {
  const std::string begin = fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.6f}\"",
                                        escaped(r.group), escaped(r.name), r.seconds);
  if (r.how == TestResult::How::kPassed) return begin + "/>\n";
  const char* element = r.how == TestResult::How::kFailed ? "failure" : "skipped";
  return fmt::format("{}>\n      <{} message=\"{}\"/>\n    </testcase>\n", begin, element,
                     escaped(r.message));
}

}  // namespace

std::string junit_text(const std::string& suite, const std::vector<TestResult>& results) {
  const auto count = [&](TestResult::How how) {
    return std::count_if(results.begin(), results.end(), [&](const TestResult& r) { return r.how == how; });
  };
  double seconds = 0;
  for (const TestResult& r : results) seconds += r.seconds;
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
      "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\" time=\"{:.6f}\">\n",
      escaped(suite), results.size(), count(TestResult::How::kFailed), count(TestResult::How::kSkipped),
      seconds);
  for (const TestResult& r : results) text += case_text(r);
  return text + "  </testsuite>\n</testsuites>\n";
}

void save_junit(const std::string& suite, const std::vector<TestResult>& results, const std::string& path) {
  AtomicFile file(path);
  file.write(junit_text(suite, results));
  file.commit();
}

}  // namespace assay
