#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::roi_align_test {
namespace {

const NetworkText kRegions{"(float[1,2,4,4] x, float[2,4] r, int64[2] i) => (float[2,2,2,2] y)",
                           "y = RoiAlign <output_height = 2, output_width = 2> (x, r, i)"};

TEST(RoiAlign, AveragesAndMaxima) {
  for (const char* mode : {"avg", "max"}) {
    TacticTest t(
        "roi_align",
        {kRegions.interface, fmt::format("y = RoiAlign <output_height = 2, output_width = 2, mode = \"{}\", "
                                         "sampling_ratio = 2> (x, r, i)",
                                         mode)});
    t.set_input(1, Tensor::vector<float>({0, 0, 3, 3, 1, 0.5F, 2.5F, 3}).reshaped(Shape{2, 4}));
    t.set_input(2, Tensor::vector<int64_t>({0, 0}));
    t.expect_agreement();
  }
}

TEST(RoiAlign, RefusesOtherTypes) {
  expect_refusal("roi_align",
                 {"(double[1,2,4,4] x, double[2,4] r, int64[2] i) => (double[2,2,2,2] y)",
                  "y = RoiAlign <output_height = 2, output_width = 2> (x, r, i)"},
                 "the image is not float32");
}

TEST(RoiAlign, ForgedRatiosAreRefused) {
  TacticTest t("roi_align", kRegions);
  t.set_input(2, Tensor::vector<int64_t>({0, 0}));
  t.expect_refused(set("ratio", -1), "its parameter 'ratio' is -1");
  t.expect_refused(set("ratio", 3143), "its parameter 'ratio' is 3143");
}

}  // namespace
}  // namespace assay::engine::roi_align_test
