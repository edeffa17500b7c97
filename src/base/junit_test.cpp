#include "base/junit.h"

#include <gtest/gtest.h>

namespace assay::junit_test {
namespace {

TEST(JUnit, CountsAndEscapes) {
  EXPECT_EQ(
      junit_text("assay run",
                 {{.group = "a vs. b", .name = "y", .seconds = 0.5},
                  {.group = "a", .name = "<&\"\x01\n", .how = TestResult::How::kFailed, .message = "1 > 0"},
                  {.group = "a", .name = "z", .how = TestResult::How::kSkipped, .message = "not judged"}}),
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
      "  <testsuite name=\"assay run\" tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\" "
      "time=\"0.500000\">\n"
      "    <testcase classname=\"a vs. b\" name=\"y\" time=\"0.500000\"/>\n"
      "    <testcase classname=\"a\" name=\"&lt;&amp;&quot;\\x01&#10;\" time=\"0.000000\">\n"
      "      <failure message=\"1 &gt; 0\"/>\n    </testcase>\n"
      "    <testcase classname=\"a\" name=\"z\" time=\"0.000000\">\n"
      "      <skipped message=\"not judged\"/>\n    </testcase>\n"
      "  </testsuite>\n</testsuites>\n");
}

}  // namespace
}  // namespace assay::junit_test
