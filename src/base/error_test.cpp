#include "assay/error.h"

#include <gtest/gtest.h>

#include "base/diagnostics.h"
#include "base/expected_error.h"
#include "base/wording.h"

namespace assay::error_test {
namespace {

TEST(Error, SaysEveryPlaceOnce) {
  Error e(ErrorCode::kInvalidModel, "it is cut");
  e.set_remedy("Write it again.");
  e.add_context("in a.plan").add_context("in the runner trt").add_context("in a.plan").add_context("in b");
  EXPECT_STREQ(e.what(), "it is cut [in a.plan] [in the runner trt] [in b]. Write it again.");
  try {
    const auto place = [] { return std::string("in a.npz"); };
    with_context(place, [&] { with_context(place, [] { fail(ErrorCode::kIo, "no luck"); }); });
  } catch (const Error& caught) {
    EXPECT_STREQ(caught.what(), "no luck [in a.npz]");
  }
}

TEST(Error, KnowsItsSubject) {
  Error e(ErrorCode::kInvalidModel, "it is cut");
  e.add_context(tensor_place("in initializer", "w")).add_context(node_place("'outer' (If)"));
  e.add_context(node_place("'around' (Loop)")).add_context("in a pass").add_context(file_place("m.onnx"));
  EXPECT_STREQ(e.what(),
               "it is cut [in initializer 'w'] [at node 'outer' (If)] [at node 'around' (Loop)] [in a pass] "
               "[in m.onnx]");
  EXPECT_EQ(e.subject().tensor, "w");
  EXPECT_EQ(e.subject().node, "outer") << "the innermost";
  EXPECT_EQ(e.subject().file, "m.onnx");
  EXPECT_EQ(node_place("'it's (odd)' (custom::Op)").name, "it's (odd)");
  EXPECT_EQ(node_place("(Conv) producing 'y'").name, "");
}

TEST(Error, RemediesAreInTheWordsOfTheInterface) {
  const auto text = [] {
    return std::string(
        with_remedy(Error(ErrorCode::kInvalidArgument, "it has 3 heads"), Say::kRanks, {"3"}).what());
  };
  EXPECT_EQ(text(), "it has 3 heads. Choose a number of ranks that divides 3.");
  set_wording([](std::string_view key, std::span<const std::string> values) {
    return key == "ranks" ? fill_wording("ranks={0}.", values) : std::string();
  });
  EXPECT_EQ(text(), "it has 3 heads. ranks=3.");
  EXPECT_EQ(say(Say::kShardSequence), "Shard it along the sequence instead.") << "it has no words of its own";
  set_wording(nullptr);
  EXPECT_EQ(text(), "it has 3 heads. Choose a number of ranks that divides 3.");
}

TEST(Error, CodesHaveStableNames) {
  EXPECT_STREQ(error_code_name(ErrorCode::kInvalidArgument), "invalid_argument");
  EXPECT_STREQ(error_code_name(ErrorCode::kResource), "resource");
  EXPECT_STREQ(error_code_name(ErrorCode::kInternal), "internal");
}

TEST(ExpectedError, IsReportedAsItWasThrown) {
  const diag::Indent indent(2);
  try {
    with_context([] { return file_place("m.onnx"); },
                 [] { fail_expected(ErrorCode::kNotFound, "no outputs of {}", "x*"); });
    FAIL();
  } catch (const ExpectedError& e) {
    EXPECT_EQ(e.report(), "no outputs of x*");
    EXPECT_STREQ(e.what(), "no outputs of x* [in m.onnx]");
    EXPECT_EQ(e.indentation(), 2);
  }
}

}  // namespace
}  // namespace assay::error_test
