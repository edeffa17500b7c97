#include "compare/tolerance.h"

#include <gtest/gtest.h>

namespace assay {
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

}  // namespace
}  // namespace assay
