#include "run/equivalence.h"

#include <gtest/gtest.h>

#include "graph/clone.h"
#include "graph/import.h"

namespace assay::equivalence_test {
namespace {

std::string difference(const char* text, EquivalenceOptions options) {
  const std::shared_ptr<Model> model = parse_text(text, "text");
  return find_difference(model, clone_model(*model), options);
}

constexpr const char* kTwoInputs = R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[n, 4] a, float[n, 4] b) => (float[n, 4] y) { y = Add (a, b) })";

TEST(Equivalence, TheShapeOfOneInputSaysWhatTheSymbolsOfTheOthersAre) {
  EquivalenceOptions options;
  options.data.shapes = {{.name = "a", .dims = {Dim(9), Dim(4)}}};
  EXPECT_EQ(difference(kTwoInputs, options), "");
}

constexpr const char* kIndices = R"(<ir_version: 8, opset_import: ["" : 17]>
g (int64[2] i) => (float[2] y) <float[3] table = {1, 2, 3}> { y = Gather (table, i) })";

TEST(Equivalence, LoadedInputsReplaceGeneratedOnes) {
  EquivalenceOptions options;
  options.data.seed = 3;
  options.trials = 0;
  EXPECT_THROW(difference(kIndices, options), Error) << "no trial at all";
  options.loaded = {{{"i", Tensor::vector<int64_t>({2, -3})}}};
  EXPECT_EQ(difference(kIndices, options), "");
  options.loaded = {{{"j", Tensor::vector<int64_t>({2, -3})}}};
  EXPECT_THROW(difference(kIndices, options), Error) << "an input that is not loaded";
}

}  // namespace
}  // namespace assay::equivalence_test
