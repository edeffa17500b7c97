#include "compare/tolerance.h"

#include <gtest/gtest.h>

#include "assay/error.h"

namespace assay::tolerance_test {
namespace {

TEST(Tolerance, RemembersHowItWasWritten) {
  EXPECT_EQ(Tolerance(1).str(), "1");
  EXPECT_EQ(Tolerance(1.0).str(), "1.0");
  EXPECT_EQ(Tolerance(1e-3).str(), "0.001");
  EXPECT_EQ(Tolerance(1e-5).str(), "1e-05");
}

TEST(PerOutput, ExactNameThenDefaultThenFallback) {
  PerOutput<int> values;
  EXPECT_EQ(values.get("y", 3), 3);
  values.set("", 1);
  values.set("y", 2);
  values.set("y", 4);
  EXPECT_EQ(values.get("y", 3), 4);
  EXPECT_EQ(values.get("z", 3), 1);
  EXPECT_EQ(values.entries().size(), 2u);
}

TEST(PerOutput, NamesMayBePatterns) {
  PerOutput<int> values;
  values.set("", 1);
  values.set("conv[0]", 2);
  values.set("conv*", 3);
  values.set("re:.*_out", 4);
  EXPECT_EQ(values.get("conv[0]", 0), 2);  // the name itself
  EXPECT_EQ(values.get("conv0", 0), 3);
  EXPECT_EQ(values.get("conv_out", 0), 4);  // the last that fits
  EXPECT_EQ(values.get("other", 0), 1);
  EXPECT_THROW(values.set("re:(", 5), Error);
}

}  // namespace
}  // namespace assay::tolerance_test
