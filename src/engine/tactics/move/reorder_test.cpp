#include "engine/tactics/move/reorder.h"

#include <gtest/gtest.h>

#include "assay/graph.h"

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

}  // namespace
}  // namespace assay::engine
