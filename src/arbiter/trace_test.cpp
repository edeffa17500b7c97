#include <gtest/gtest.h>

#include "arbiter/arbiter.h"

namespace assay::arbiter_test {
namespace {

ArbiterVerdict result_of(const std::string& output, Verdict verdict, double max_error) {
  ArbiterVerdict v;
  v.runner = "runner";
  v.output = output;
  v.verdict = verdict;
  v.basis = output == "y" ? Basis::kNetwork : Basis::kNode;
  v.max_error = max_error;
  return v;
}

/// What becomes of an output that seemed wrong when a run with all layers says this of h and finds it off by
/// `found`.
ArbiterVerdict traced(Verdict of_h, double found) {
  Arbitration result, all;
  result.outputs = {result_of("y", Verdict::kWrong, 8)};
  all.outputs = {result_of("h", of_h, 8), result_of("y", Verdict::kAgrees, found)};
  apply_trace(result, std::move(all));
  return result.outputs[0];
}

TEST(Trace, SaysWhereAnOutputThatSeemedWrongComesFrom) {
  EXPECT_EQ(traced(Verdict::kAgrees, 8).verdict, Verdict::kRounding);
  const ArbiterVerdict open = traced(Verdict::kOpen, 8);
  EXPECT_EQ(open.verdict, Verdict::kOpen);
  EXPECT_NE(open.note.find("'h'"), std::string::npos) << open.note;
  EXPECT_EQ(traced(Verdict::kWrong, 8).verdict, Verdict::kWrong);
  // What is not there when all layers are marked lies in what is fused without them.
  EXPECT_EQ(traced(Verdict::kOpen, 1).verdict, Verdict::kWrong);
  EXPECT_EQ(traced(Verdict::kAgrees, 1).verdict, Verdict::kWrong);
}

/// NonZero of rounded numbers has other places, and may have fewer.
TEST(Trace, AShapeThatRoundingDecidesIsRightWhereNoNodeErrs) {
  const auto judged = [](const Shape& traced_shape, Verdict of_h) {
    Arbitration result, all;
    result.outputs = {result_of("y", Verdict::kUnclear, 0)};
    result.outputs[0].problem = "rounding decides its shape";
    result.outputs[0].shape = {2, 524};
    all.outputs = {result_of("h", of_h, 0), result_of("y", Verdict::kAgrees, 0)};
    all.outputs[1].shape = traced_shape;
    apply_trace(result, std::move(all));
    return result.outputs[0].verdict;
  };
  EXPECT_EQ(judged({2, 524}, Verdict::kRounding), Verdict::kRounding);
  EXPECT_EQ(judged({2, 520}, Verdict::kRounding), Verdict::kUnclear) << "the runs differ";
  EXPECT_EQ(judged({2, 524}, Verdict::kWrong), Verdict::kUnclear) << "a node makes an error";
}

}  // namespace
}  // namespace assay::arbiter_test
