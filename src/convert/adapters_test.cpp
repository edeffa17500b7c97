// Each adapter, both ways: equal outputs in float64, bit for bit.
#include "convert/convert_test_util.h"

namespace assay::adapters_test {
namespace {

const Tensor kImage = mixed({1, 2, 3, 4});

TEST(Adapters, ConsumedInputs) {
  expect_same({"Relu", 1, {mixed({5})}, {{"consumed_inputs", Ints{0}}}}, 6, {"Relu"});
  const std::vector<TestInput> in = {mixed({2, 3, 4}), counted({3}), counted({3}), counted({3}),
                                     fixed(floats({1, 2, 3}))};
  expect_same({"BatchNormalization", 6, in, {{"is_test", int64_t{1}}}}, 5, {"BatchNormalization"});
  expect_same(
      {"BatchNormalization", 5, in, {{"is_test", int64_t{1}}, {"consumed_inputs", Ints{0, 0, 0, 1, 1}}}}, 9);
}

TEST(Adapters, TargetsOfCasts) {
  expect_same({"Cast", 5, {mixed({5})}, {{"to", std::string("INT64")}}}, 6, {"Cast"});
  expect_same({"Cast", 13, {mixed({5})}, {{"to", int64_t{7}}}}, 1, {"Cast"});
  expect_same({"Cast",
               24,
               {mixed({5})},
               {{"to", int64_t{7}}, {"saturate", int64_t{0}}, {"round_mode", std::string("down")}}},
              13);
}

// The square of the block is 0 in 64 bits, or no block fits.
TEST(Adapters, BlocksThatDoNotDivideAreRefused) {
  for (const auto& [op, opset] :
       std::vector<std::pair<const char*, int64_t>>{{"DepthToSpace", 13}, {"SpaceToDepth", 28}})
    for (const int64_t b :
         {int64_t{1} << 32, int64_t{1} << 62, INT64_MAX, INT64_MIN, int64_t{-1}, int64_t{0}, int64_t{3}}) {
      const OneNode node(op, opset, {mixed({1, 4, 2, 2})},
                         {{"blocksize", int64_t{2}}, {"mode", std::string("CRD")}});
      node.model->graph->nodes()[0]->set_attribute("blocksize", b);
      EXPECT_THROW(convert_opset(*node.model, {.version = 1}), Error) << op << " " << b;
    }
}

TEST(Adapters, DefaultsThatMustBeWritten) {
  expect_same({"Concat", 3, {kImage, kImage}}, 13, {"Concat"});
  expect_same({"Selu", 1, {mixed({5})}}, 6);
  expect_same({"Selu", 6, {mixed({5})}}, 1);
  expect_same({"Softplus", 1, {mixed({5})}}, 22);
}

TEST(Adapters, Exponents) {
  expect_same({"GlobalLpPool", 1, {kImage}, {{"p", 3.0F}}}, 2);
  expect_same({"GlobalLpPool", 2, {kImage}, {{"p", int64_t{3}}}}, 1);
  expect_same({"GlobalLpPool", 1, {kImage}}, 22);
  EXPECT_EQ(
      refusal({"GlobalLpPool", 1, {kImage}, {{"p", 2.5F}}}, 7),
      "'node' (GlobalLpPool): the attribute 'p' = 2.5, which is not a whole number, has no equivalent in "
      "opset 7; "
      "the nearest that has it is 1.");
}

TEST(Adapters, BroadcastingOfTwo) {
  const Tensor a = mixed({2, 3, 4});
  for (const char* op : {"Add", "Sub", "Mul", "Div", "Pow", "Greater", "Less"}) {
    expect_same({op, 6, {a, counted({2})}, {{"broadcast", int64_t{1}}, {"axis", int64_t{0}}}}, 13);
    expect_same({op, 6, {a, counted({3})}, {{"broadcast", int64_t{1}}, {"axis", int64_t{-2}}}}, 7);
    expect_same({op, 6, {a, counted({3, 4})}, {{"broadcast", int64_t{1}}}}, 7);
    expect_same({op, 7, {a, counted({3, 4})}}, 6, {op});
    expect_same({op, 7, {a, counted({3, 1})}}, 6, {"Reshape", op});
    expect_same({op, 7, {a, counted({1, 3, 1})}}, 6, {"Reshape", op});
    expect_same({op, 7, {a, counted({1})}}, 6);
    expect_same({op, 7, {a, a}}, 6, {op});
  }
  EXPECT_EQ(refusal({"Add", 14, {counted({4}), a}}, 6).substr(0, 15), "'node' (Add): t");
}

TEST(Adapters, Slopes) {
  expect_same({"PRelu", 6, {mixed({2, 3, 4}), counted({3})}}, 9);
  expect_same({"PRelu", 6, {mixed({2, 3}), counted({3})}}, 9, {"PRelu"});
  expect_same({"PRelu", 9, {mixed({2, 3, 4}), counted({3, 1})}}, 6);
  expect_same({"PRelu", 9, {mixed({2, 3, 4}), counted({1, 3, 1})}}, 6);
  expect_same({"PRelu", 9, {mixed({2, 3, 4}), counted({1})}}, 6, {"PRelu"});
  EXPECT_NE(refusal({"PRelu", 9, {mixed({2, 3, 4}), counted({3, 4})}}, 6).find("a slope of shape (3, 4)"),
            std::string::npos);
}

TEST(Adapters, BroadcastingOfMany) {
  const Tensor a = mixed({2, 3, 4}), b = counted({3, 1}), c = counted({4});
  expect_same({"Sum", 8, {a, b, c}}, 7, {"Add", "Add"});
  expect_same({"Mean", 8, {a, b, c}}, 7, {"Add", "Add", "Div"}, 1e-15);
  expect_same({"Max", 8, {a, b, c}}, 7, {"Reshape", "Tile", "Reshape", "Tile", "Max"});
  expect_same({"Min", 13, {a, b, c}}, 7);
  expect_same({"Min", 13, {a, a}}, 6, {"Min"});
  expect_same({"Max", 6, {a, a}}, 13, {"Max"});
}

TEST(Adapters, NegativeAxes) {
  expect_same({"ArgMax", 11, {kImage}, {{"axis", int64_t{-1}}}}, 7);
  expect_same({"Concat", 11, {kImage, kImage}, {{"axis", int64_t{-2}}}}, 7);
  expect_same({"Flatten", 11, {kImage}, {{"axis", int64_t{-2}}}}, 9);
  expect_same({"ReduceSum", 11, {kImage}, {{"axes", Ints{-1, 1}}}}, 7);
  expect_same({"Unsqueeze", 11, {kImage}, {{"axes", Ints{-1, 0}}}}, 7);
  expect_same({"Squeeze", 11, {kImage}, {{"axes", Ints{-4}}}}, 7);
  expect_same({"Gather", 11, {kImage, fixed(int64s({-1, 0}))}, {{"axis", int64_t{-1}}}}, 7);
  expect_same({"OneHot",
               11,
               {fixed(int64s({1, 0})), fixed(int64s({3})), fixed(floats({0, 1}))},
               {{"axis", int64_t{-1}}}},
              10);
}

TEST(Adapters, AxesAsInput) {
  expect_same({"Squeeze", 11, {kImage}, {{"axes", Ints{0}}}}, 13);
  expect_same({"Squeeze", 11, {kImage}}, 13);
  expect_same({"Squeeze", 13, {kImage, fixed(int64s({0}))}}, 7);
  expect_same({"Unsqueeze", 7, {kImage}, {{"axes", Ints{0, 2}}}}, 21);
  expect_same({"Unsqueeze", 21, {kImage, fixed(int64s({0, 2}))}}, 7);
  EXPECT_EQ(refusal({"Squeeze", 13, {kImage, int64s({0})}}, 11),
            "'node' (Squeeze): the input 'axes' is not constant has no equivalent in opset 11; the nearest "
            "that has it is 13.");
}

TEST(Adapters, AxesOfReductions) {
  for (const char* op : {"ReduceL1", "ReduceL2", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin",
                         "ReduceProd", "ReduceSum", "ReduceSumSquare"}) {
    expect_same({op, 11, {kImage}, {{"axes", Ints{1, 2}}, {"keepdims", int64_t{0}}}}, 18, {op});
    expect_same({op, 7, {kImage}}, 20, {op});
    expect_same({op, 18, {kImage, fixed(int64s({1, -1}))}}, 7, {op});
    expect_same({op, 18, {kImage}}, 11, {op});
    expect_same({op, 18, {kImage}, {{"noop_with_empty_axes", int64_t{1}}}}, 11, {"Unsqueeze", op});
  }
}

TEST(Adapters, Softmax) {
  for (const char* op : {"Softmax", "LogSoftmax", "Hardmax"}) {
    expect_same({op, 11, {kImage}, {{"axis", int64_t{3}}}}, 13, {op});
    expect_same({op, 11, {kImage}}, 13, {"Shape", "Flatten", op, "Reshape"});
    expect_same({op, 11, {kImage}, {{"axis", int64_t{-2}}}}, 17);
    expect_same({op, 7, {kImage}, {{"axis", int64_t{0}}}}, 17);
    expect_same({op, 13, {kImage}}, 11, {op});
    expect_same({op, 13, {kImage}, {{"axis", int64_t{1}}}}, 7, {"Transpose", op, "Transpose"});
    expect_round_trip({op, 13, {kImage}, {{"axis", int64_t{2}}}}, 9);
  }
}

TEST(Adapters, ClipBounds) {
  expect_same({"Clip", 6, {mixed({5})}, {{"min", -1.0F}, {"max", 0.5F}}}, 13, {"Clip"});
  expect_same({"Clip", 6, {mixed({5})}, {{"max", 0.5F}}}, 11);
  expect_same({"Clip", 6, {mixed({5})}}, 13);
  expect_same({"Clip", 13, {mixed({5}), fixed(Tensor::scalar(-0.5F)), fixed(Tensor::scalar(1.0F))}}, 6,
              {"Clip"});
  expect_same({"Clip", 13, {mixed({5}), missing(), fixed(Tensor::scalar(1.0F))}}, 1);
  expect_same({"Clip", 13, {mixed({5}), Tensor::scalar(-0.5F), Tensor::scalar(1.0F)}}, 10, {"Max", "Min"});
  EXPECT_NE(refusal({"Clip", 13, {mixed({5}, DType::kFloat64), fixed(Tensor::scalar(0.1))}}, 10)
                .find("which no float32 holds"),
            std::string::npos);
  EXPECT_EQ(refusal({"Clip", 12, {int64s({1, 2}), fixed(Tensor::scalar(int64_t{1}))}}, 11),
            "'node' (Clip): the input 'input' of type int64 has no equivalent in opset 11; the nearest that "
            "has it is 12.");
}

TEST(Adapters, PadsAndSlices) {
  expect_same({"Pad", 1, {kImage}, {{"paddings", Ints{0, 0, 1, 0, 0, 0, 0, 2}}}}, 11);
  expect_same({"Pad", 2, {kImage}, {{"pads", Ints{0, 0, 1, 0, 0, 0, 0, 2}}, {"value", 0.5F}}}, 19, {"Pad"});
  expect_same(
      {"Pad", 13, {kImage, fixed(int64s({0, 0, 1, 1, 0, 0, 1, 1}))}, {{"mode", std::string("reflect")}}}, 2);
  expect_same(
      {"Pad", 18, {kImage, fixed(int64s({1, 2, 3, 4})), fixed(Tensor::scalar(2.0F)), fixed(int64s({-1, 0}))}},
      1);
  EXPECT_EQ(
      refusal({"Pad", 19, {kImage, fixed(int64s({0, 0, 1, 1, 0, 0, 1, 1}))}, {{"mode", std::string("wrap")}}},
              13),
      "'node' (Pad): the attribute 'mode' = 'wrap' has no equivalent in opset 13; the nearest that has it is "
      "19.");
  expect_same({"Slice", 1, {kImage}, {{"starts", Ints{1, 0}}, {"ends", Ints{-1, 2}}, {"axes", Ints{2, 3}}}},
              13, {"Slice"});
  expect_same({"Slice", 13, {kImage, fixed(int64s({1})), fixed(int64s({3})), fixed(int64s({-1}))}}, 1,
              {"Slice"});
  expect_same({"Slice",
               13,
               {kImage, fixed(int64s({3})), fixed(int64s({0})), fixed(int64s({-1})), fixed(int64s({-1}))}},
              10);
  EXPECT_NE(
      refusal({"Slice",
               13,
               {kImage, fixed(int64s({3})), fixed(int64s({0})), fixed(int64s({3})), fixed(int64s({-1}))}},
              9)
          .find("the step -1"),
      std::string::npos);
}

TEST(Adapters, CountsAndLengths) {
  expect_same({"TopK", 1, {mixed({2, 5})}, {{"k", int64_t{2}}}, 2}, 11, {"TopK"});
  expect_same({"TopK", 11, {mixed({2, 5}), fixed(int64s({2}))}, {{"axis", int64_t{-1}}}, 2}, 1, {"TopK"});
  EXPECT_NE(refusal({"TopK", 11, {mixed({2, 5}), fixed(int64s({2}))}, {{"largest", int64_t{0}}}, 2}, 10)
                .find("the attribute 'largest' = 0"),
            std::string::npos);
  expect_same({"Split", 1, {kImage, fixed(floats({1, 3}))}, {{"axis", int64_t{3}}}, 2}, 13);
  expect_same({"Split", 11, {kImage}, {{"axis", int64_t{3}}, {"split", Ints{1, 3}}}, 2}, 18);
  expect_same({"Split", 11, {kImage}, {{"axis", int64_t{3}}}, 2}, 18, {"Split"});
  expect_same({"Split", 18, {kImage}, {{"axis", int64_t{-1}}, {"num_outputs", int64_t{2}}}, 2}, 2, {"Split"});
  expect_same({"Split", 18, {kImage}, {{"axis", int64_t{2}}, {"num_outputs", int64_t{2}}}, 2}, 7, {"Split"});
  expect_same({"Tile", 1, {kImage, fixed(floats({3})), fixed(floats({2}))}}, 13);
  expect_same({"Tile", 6, {kImage, fixed(int64s({1, 2, 1, 3}))}}, 5, {"Tile", "Tile"});
  expect_same({"Reshape", 1, {kImage}, {{"shape", Ints{0, -1, 2}}}}, 14);
  expect_same({"Reshape", 14, {kImage, fixed(int64s({2, -1, 3}))}, {{"allowzero", int64_t{1}}}}, 1);
}

TEST(Adapters, SplitsOfUnknownExtentsAreComputed) {
  OneNode node("Split", 18, {mixed({2, 5})}, {{"axis", int64_t{1}}, {"num_outputs", int64_t{2}}}, 2);
  node.model->graph->inputs[0]->type.dims = Dims{Dim::symbol("n"), Dim::symbol("m")};
  for (Value* v : node.model->graph->outputs) v->type = {};
  expect_same(node, 13);
  EXPECT_NE(refusal(node, 11).find("the input 'split' is not constant"), std::string::npos);
}

TEST(Adapters, Dropout) {
  expect_same({"Dropout", 6, {mixed({5})}, {{"is_test", int64_t{1}}, {"ratio", 0.3F}}}, 22, {"Dropout"});
  expect_same({"Dropout", 13, {mixed({5}), fixed(Tensor::scalar(0.3F))}}, 6, {"Dropout"});
  expect_same({"Dropout", 13, {mixed({5}), Tensor::scalar(0.3F), fixed(Tensor::scalar(false))}, {}, 2}, 7,
              {"Dropout", "Cast"});
  expect_same({"Dropout", 7, {mixed({5})}, {}, 2}, 13, {"Dropout", "Cast"});
  EXPECT_NE(
      refusal({"Dropout", 13, {mixed({5}), missing(), fixed(Tensor::scalar(true))}}, 7).find("at random"),
      std::string::npos);
}

TEST(Adapters, DropoutInTrainingIsKeptWhereItCanBe) {
  const OneNode node("Dropout", 6, {mixed({50})}, {{"ratio", 0.25F}}, 2);
  const std::shared_ptr<Model> after = converted(*node.model, 13);
  const std::vector<Tensor> out = evaluate(after, node.feed);
  int64_t dropped = 0;
  for (int64_t i = 0; i < 50; ++i) dropped += out[0].data<double>()[i] == 0;
  EXPECT_GT(dropped, 0);
  EXPECT_LT(dropped, 50);
  EXPECT_EQ(refusal(node, 9),
            "'node' (Dropout): the input 'training_mode', which makes it drop elements at random, has no "
            "equivalent in "
            "opset 9; the nearest that has it is 12.");
}

TEST(Adapters, BatchNormalization) {
  const std::vector<TestInput> in = {mixed({2, 3, 4}), counted({3}), counted({3}), counted({3}),
                                     fixed(floats({1, 2, 3}))};
  expect_same({"BatchNormalization", 6, in, {{"is_test", int64_t{1}}}}, 15, {"BatchNormalization"});
  expect_same({"BatchNormalization", 15, in}, 6, {"BatchNormalization"});
  expect_same({"BatchNormalization", 9, in, {}, 3}, 15, {"BatchNormalization"});
  expect_same({"BatchNormalization", 15, in, {{"training_mode", int64_t{1}}}, 3}, 6, {"BatchNormalization"});
  expect_same({"BatchNormalization", 15, in, {{"training_mode", int64_t{1}}}, 1}, 9, {"BatchNormalization"});
  const std::vector<TestInput> features = {mixed({2, 3, 4}), mixed({3, 4}), mixed({3, 4}), mixed({3, 4}),
                                           fixed(counted({3, 4}))};
  expect_same({"BatchNormalization", 7, features, {{"spatial", int64_t{0}}, {"epsilon", 1.0F}}}, 9);
}

TEST(Adapters, GroupNormalization) {
  const Tensor x = mixed({2, 6, 3});
  expect_same({"GroupNormalization", 18, {x, counted({3}), counted({3})}, {{"num_groups", int64_t{3}}}}, 21,
              {}, 1e-14);
  expect_same({"GroupNormalization", 21, {x, counted({6}), counted({6})}, {{"num_groups", int64_t{3}}}}, 18,
              {}, 1e-14);
  expect_same({"GroupNormalization", 21, {x, counted({6}), counted({6})}, {{"num_groups", int64_t{2}}}}, 11,
              {}, 1e-14);
}

TEST(Adapters, Recurrence) {
  const std::vector<TestInput> in = {mixed({2, 1, 3}), mixed({1, 6, 3}), mixed({1, 6, 2})};
  expect_same({"GRU", 1, in, {{"output_sequence", int64_t{1}}, {"hidden_size", int64_t{2}}}, 2}, 22);
  expect_same({"GRU", 7, in, {{"hidden_size", int64_t{2}}}, 2}, 1);
  const std::vector<TestInput> by_batch = {mixed({4, 2, 3}), mixed({2, 8, 3}), mixed({2, 8, 2}), missing(),
                                           missing(),        mixed({4, 2, 2}), mixed({4, 2, 2})};
  expect_same(
      {"LSTM",
       14,
       by_batch,
       {{"hidden_size", int64_t{2}}, {"layout", int64_t{1}}, {"direction", std::string("bidirectional")}},
       3},
      7);
}

TEST(Adapters, Images) {
  expect_same({"Upsample", 6, {kImage}, {{"height_scale", 2.0F}, {"width_scale", 1.5F}}}, 7);
  expect_same({"Upsample", 6, {kImage}, {{"height_scale", 2.0F}, {"width_scale", 1.5F}}}, 19, {"Resize"});
  expect_same({"Upsample", 9, {kImage, fixed(floats({1, 1, 2, 2}))}, {{"mode", std::string("linear")}}}, 13,
              {"Resize"});
  expect_same({"Resize", 10, {kImage, fixed(floats({1, 1, 0.5F, 0.6F}))}}, 11, {"Resize"});
  expect_same({"Resize", 10, {kImage, fixed(floats({1, 1, 2, 3}))}}, 1, {"Upsample"});
  const AttributeList plain = {{"coordinate_transformation_mode", std::string("asymmetric")},
                               {"nearest_mode", std::string("floor")}};
  expect_same({"Resize", 13, {kImage, missing(), fixed(floats({1, 1, 2, 3}))}, plain}, 7, {"Upsample"});
  expect_same({"Resize", 13, {kImage, missing(), missing(), fixed(int64s({1, 2, 6, 8}))}, plain}, 10,
              {"Resize"});
  AttributeList some = plain;
  some.emplace_back("axes", Ints{-1, 2});
  expect_same({"Resize", 18, {kImage, missing(), fixed(floats({3, 2}))}, some}, 13);
  expect_same({"Resize", 18, {kImage, missing(), missing(), fixed(int64s({8, 6}))}, some}, 11);
  EXPECT_NE(
      refusal({"Resize", 13, {kImage, missing(), fixed(floats({1, 1, 2, 3}))}}, 10).find("= 'half_pixel'"),
      std::string::npos);
  EXPECT_NE(refusal({"Resize", 10, {kImage, fixed(floats({1, 1, 0.5F, 2}))}}, 11).find("nearest neighbour"),
            std::string::npos);
}

TEST(Adapters, Sampling) {
  const Tensor grid = mixed({1, 2, 2, 2});
  expect_same({"GridSample", 16, {kImage, grid}}, 22);
  expect_same({"GridSample", 16, {kImage, grid}, {{"mode", std::string("bicubic")}}}, 20);
  expect_same({"GridSample", 20, {kImage, grid}}, 16);
  const std::vector<TestInput> rois = {
      kImage, fixed(Tensor::from<float>({1, 4}, std::vector<float>{0, 0, 2, 2})), fixed(int64s({0}))};
  expect_same({"RoiAlign", 10, rois}, 16);
  expect_same({"RoiAlign", 16, rois, {{"coordinate_transformation_mode", std::string("output_half_pixel")}}},
              10);
  EXPECT_NE(refusal({"RoiAlign", 16, rois}, 10).find("= 'half_pixel'"), std::string::npos);
}

TEST(Adapters, Pools) {
  const AttributeList window = {{"kernel_shape", Ints{2, 2}}};
  AttributeList dilated = window;
  dilated.emplace_back("dilations", Ints{1, 1});
  expect_same({"AveragePool", 19, {kImage}, dilated}, 7, {"AveragePool"});
  expect_same({"MaxPool", 12, {kImage}, dilated}, 1, {"MaxPool"});
  AttributeList ordered = dilated;
  ordered.emplace_back("storage_order", int64_t{1});
  expect_same({"MaxPool", 12, {kImage}, ordered}, 7);
  EXPECT_NE(refusal({"MaxPool", 12, {kImage}, window, 2}, 7).find("the output 'Indices'"), std::string::npos);
  AttributeList ceil = window;
  ceil.emplace_back("ceil_mode", int64_t{1});
  EXPECT_NE(refusal({"AveragePool", 19, {kImage}, ceil}, 7).find("the attribute 'ceil_mode' = 1"),
            std::string::npos);
}

TEST(Adapters, SmallForms) {
  expect_same({"Gemm", 6, {mixed({2, 3}), mixed({3, 4}), mixed({4})}, {{"broadcast", int64_t{1}}}}, 13,
              {"Gemm"});
  expect_same({"Gemm", 13, {mixed({2, 3}), mixed({3, 4}), mixed({4})}}, 6, {"Gemm"});
  expect_same({"Gemm", 13, {mixed({2, 3}), mixed({3, 4})}}, 9, {"Gemm"});
  expect_same({"Pow", 12, {counted({3}), int64s({2, 1, 3})}}, 11, {"Cast", "Pow"});
  expect_same({"Shape", 15, {kImage}, {{"start", int64_t{-2}}}}, 7, {"Shape", "Slice"});
  expect_same({"Shape", 15, {kImage}, {{"start", int64_t{1}}, {"end", int64_t{-1}}}}, 13, {"Shape", "Slice"});
  expect_same(
      {"Scatter", 9, {kImage, fixed(Tensor::zeros(DType::kInt64, {1, 1, 1, 1})), mixed({1, 1, 1, 1})}}, 18,
      {"ScatterElements"});
  expect_same({"ScatterElements",
               13,
               {kImage, fixed(Tensor::zeros(DType::kInt64, {1, 1, 1, 1})), mixed({1, 1, 1, 1})},
               {{"axis", int64_t{-1}}}},
              9, {"Scatter"});
  const AttributeList columns = {{"blocksize", int64_t{2}}, {"mode", std::string("CRD")}};
  expect_same({"DepthToSpace", 13, {mixed({1, 8, 2, 3})}, columns}, 7);
  expect_same({"SpaceToDepth", 28, {mixed({1, 2, 4, 6})}, columns}, 13);
  expect_same({"Mod", 28, {mixed({8}), counted({8})}}, 13);
  expect_same({"Mod", 28, {floats({-7, 7, -8, 0}), fixed(floats({4, -4, 4, 3}))}}, 13);
  expect_same({"DFT", 17, {mixed({1, 6, 1})}}, 20);
  expect_same({"DFT", 20, {mixed({1, 6, 4, 2}), missing(), fixed(Tensor::scalar(int64_t{-3}))}}, 17);
  expect_same({"DFT", 20, {mixed({1, 6, 4, 2})}}, 17);
  expect_same({"Range", 27, {Tensor::scalar(0.0F), Tensor::scalar(4.0F), Tensor::scalar(0.5F)}}, 11,
              {"Range"});
}

TEST(Adapters, ConstantsInAnyForm) {
  expect_same({"Constant", 13, {}, {{"value_ints", Ints{1, 2}}}}, 9);
  expect_same({"Constant", 13, {}, {{"value_float", 2.5F}}}, 11);
  expect_same({"Constant", 13, {}, {{"value_strings", std::vector<std::string>{"a", "b"}}}}, 9);
  Attribute::Sparse sparse{floats({1, 2}), int64s({0, 3}), {2, 2}};
  expect_same({"Constant", 13, {}, {{"sparse_value", sparse}}}, 11);
  expect_same({"Constant", 13, {}, {{"sparse_value", sparse}}}, 9);
}

TEST(Adapters, Quantization) {
  const Tensor x = mixed({2, 3}), scale = floats({0.1F, 0.2F, 0.3F});
  const Tensor zeros = Tensor::from<uint8_t>({3}, std::vector<uint8_t>{1, 2, 3});
  expect_same({"QuantizeLinear", 13, {x, scale, zeros}, {{"axis", int64_t{-1}}}}, 12, {}, 0);
  expect_same({"QuantizeLinear", 21, {x, Tensor::scalar(0.1F)}, {{"output_dtype", int64_t{3}}}}, 10,
              {"QuantizeLinear"});
  const Tensor levels = Tensor::from<uint8_t>({2, 3}, std::vector<uint8_t>{0, 9, 100, 130, 200, 255});
  expect_same({"DequantizeLinear", 13, {levels, scale, zeros}}, 10, {}, 1e-7);
  expect_same({"DequantizeLinear", 23, {levels, Tensor::scalar(0.5F)}, {{"output_dtype", int64_t{1}}}}, 10,
              {"DequantizeLinear"});
  expect_same({"QuantizeLinear", 10, {x, Tensor::scalar(0.1F)}}, 25, {"QuantizeLinear"});
}

}  // namespace
}  // namespace assay::adapters_test
