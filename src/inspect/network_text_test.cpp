#include "assay/inspect.h"

#include <gtest/gtest.h>

#include "inspect/inspect_test_util.h"

namespace assay::network_text_test {
namespace {

TEST(NetworkTextTest, LayersOfOneNodeEach) {
  TestModel m;
  m.input("x", {Dim::symbol("n"), 3, 4, 4});
  m.constant("w", {2, 3, 1, 1});
  m.constant("b", {1});
  m.node("Conv", {"x", "w"}, {"c"}, {{"group", int64_t{1}}}, "conv");
  m.node("Add", {"c", "b"}, {"s"}, {}, "add");
  m.node("Own", {"s"}, {"y"}, {}, "own", "com.example");
  m.output("y", {1});
  EXPECT_EQ(network_text(describe_network(*m.model)), R"(Name: g | Explicit Batch Network

---- 1 Network Input(s) ----
{x [dtype=float32, shape=(-1, 3, 4, 4)]}

---- 1 Network Output(s) ----
{y [dtype=float32, shape=(1,)]}

---- 4 Layer(s) ----)");
  const std::string text =
      network_text(describe_network(*m.model, {.layers = true, .attrs = true, .weights = true}));
  EXPECT_NE(text.find(R"(---- 4 Layer(s) ----
Layer 0    | conv [Op: LayerType.CONVOLUTION]
    {x [dtype=float32, shape=(-1, 3, 4, 4)]}
     -> {c}
    ---- Attributes ----
    conv.group = 1

Layer 1    | b [Op: LayerType.CONSTANT]
    {} -> {b [dtype=float32, shape=(1,)]}
    ---- Attributes ----
    b.weights =
        [1.]

Layer 2    | add [Op: LayerType.ELEMENTWISE]
    {c,
     b [dtype=float32, shape=(1,)]}
     -> {s}

Layer 3    | own [Op: LayerType.PLUGIN_V3]
    {s}
     -> {y [dtype=float32, shape=(1,)]})"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace assay::network_text_test
