#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::channel_response_test {
namespace {

const NetworkText kResponse{"(float[2,12,5,7] x) => (float[2,12,5,7] y)",
                            "y = LRN <size = 5, alpha = 0.5, beta = 0.6, bias = 1.5> (x)"};

TEST(ChannelResponse, EveryLayout) {
  TacticTest t("channel_response", kResponse);
  t.expect_agreement("row");
  t.expect_agreement("channels_last");
  TacticTest("channel_response", {"(float[3,5] x) => (float[3,5] y)", "y = LRN <size = 4> (x)"})
      .expect_agreement();
}

TEST(ChannelResponse, RefusesWhatMayDivideByZero) {
  expect_refusal("channel_response",
                 {"(float[1,4,2] x) => (float[1,4,2] y)", "y = LRN <size = 3, bias = -1.0> (x)"},
                 "what is divided by may be below zero");
}

TEST(ChannelResponse, ForgedSizesAreRefused) {
  TacticTest t("channel_response", kResponse);
  t.expect_refused(set("size", 0), "its parameter 'size' is 0");
  t.expect_refused(set("alpha", 1), "its parameter 'alpha' is missing or of another kind");
}

}  // namespace
}  // namespace assay::engine::channel_response_test
