#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::arg_extreme_test {
namespace {

const NetworkText kPlaces{"(float[3,4,5] x) => (int64[3,5] y)", "y = ArgMax <axis = 1, keepdims = 0> (x)"};

TEST(ArgExtreme, FindsPlacesAlongAnAxis) {
  TacticTest("arg_extreme", kPlaces).expect_agreement();
  // Of equal elements the last one.
  TacticTest("arg_extreme",
             {"(int32[2,9] x) => (int64[2,1] y)", "y = ArgMin <axis = -1, select_last_index = 1> (x)"})
      .expect_agreement();
}

TEST(ArgExtreme, RefusesWhatHasNoOrderOrNoElements) {
  TacticTest t("arg_extreme", {"(float[0,4] x) => (int64[0,1] y)", "y = ArgMax <axis = 1> (x)"});
  t.config().disabled_passes = {"fold_empty"};
  t.expect_refusal("there is no line of elements");
}

TEST(ArgExtreme, ForgedAxesAreRefused) {
  TacticTest t("arg_extreme", kPlaces);
  t.expect_refused(set("axis", 3), "its parameter 'axis' is 3");
  t.expect_refused(set("axis", 0), "places in (3, 4, 5)");
  t.expect_refused(set("last", 2), "its parameter 'last' is 2");
}

}  // namespace
}  // namespace assay::engine::arg_extreme_test
