#include "engine/tactics/move/reorder.h"

#include <gtest/gtest.h>

#include "assay/graph.h"
#include "engine/tactics/tactic_test_util.h"

namespace assay::engine {
namespace {

// Modules may ask for blocks of another width than the kernels beside them.
TEST(ReorderPath, EveryLayoutIsReachedAndBlocksOfOthersThroughRows) {
  Model model;
  Value* v = model.graph->add_value("v");
  v->type = {.dtype = DType::kFloat32, .dims = Dims{1, 32, 6, 6}};
  const Shape shape = {1, 32, 6, 6};
  const Layout layouts[] = {{}, Layout::channels_last(), {4}, {8}, {16}};
  for (const Layout from : layouts)
    for (const Layout to : layouts) {
      Layout at = from;
      for (const Format& next : reorder_path(*v, shape, from, to)) {
        EXPECT_FALSE(at.is_blocked() && next.layout.is_blocked()) << from.str() << " to " << to.str();
        at = next.layout;
      }
      EXPECT_EQ(at, to) << from.str();
      EXPECT_LE(reorder_path(*v, shape, from, to).size(), from.is_blocked() && to.is_blocked() ? 2U : 1U);
    }
}

TEST(ReorderPath, ValuesOfOneChannelEndInTheLayoutThatIsAskedFor) {
  Model model;
  Value* v = model.graph->add_value("v");
  v->type = {.dtype = DType::kFloat32, .dims = Dims{3, 1, 5, 7}};
  for (const Layout from : {Layout(), Layout::channels_last()})
    for (const Layout to : {Layout(), Layout::channels_last()}) {
      const auto path = reorder_path(*v, {3, 1, 5, 7}, {from, DType::kUInt8}, {to, DType::kFloat32});
      ASSERT_EQ(path.size(), 1U);
      EXPECT_EQ(path[0].layout, to) << from.str();
    }
}

/// Blocks or channels last, and back.
const NetworkText kConv{"(float[1,16,6,5] x) => (float[1,16,6,5] y)", "y = Conv <pads = [2, 2, 2, 2]> (x, w)",
                        floats("w", {16, 16, 5, 5})};

TEST(Reorder, ImagesAreBroughtIntoTheLayoutOfAKernel) { TacticTest("reorder", kConv).expect_agreement(); }

TEST(Reorder, ForgedShapesAreRefused) {
  TacticTest("reorder", kConv).expect_refused(set_output_shape({1, 16, 5, 6}), "it brings float32");
}

}  // namespace
}  // namespace assay::engine
