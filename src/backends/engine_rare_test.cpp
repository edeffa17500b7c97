// Rare operators on their own kernels, compared
// with the reference: types, axes, modes and edges.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "assay/backend_set.h"
#include "engine/specialize/plan_builder.h"
#include "graph/import.h"
#include "ops/infer.h"
#include "reference/interpreter.h"
#include "tensor/convert.h"

namespace assay::engine_rare_test {
namespace {

enum class Numbers : uint8_t { kPlain, kSpecial };  // with NaN and infinities

class EngineRareTest : public testing::Test {
 protected:
  /// Runs nodes of the default domain on random inputs, twice. A tactic followed by '!' gives the reference's
  /// elements bit for bit. Without feed, inputs are numbers from -range to range.
  void check(const std::string& interface, const std::string& constants, const std::string& nodes,
             std::string tactic, Numbers numbers = Numbers::kPlain, double range = 4,
             std::vector<Tensor> feed = {}, int opset = 20) {
    SCOPED_TRACE(interface + " " + nodes);
    const bool exact = tactic.back() == '!';
    if (exact) tactic.pop_back();
    const std::shared_ptr<Model> model =
        parse_text(fmt::format("<ir_version: 8, opset_import: [\"\" : {}]> g {} <{}> {{ {} }}", opset,
                               interface, constants, nodes),
                   "network");
    infer_shapes(*model);
    const Graph& g = *model->graph;
    for (size_t i = feed.size(); i < g.inputs.size(); ++i)
      feed.push_back(draw(g.inputs[i]->type.dtype, *known_shape(*g.inputs[i]->type.dims), numbers, range));
    std::vector<Shape> shapes;
    for (const Tensor& t : feed) shapes.push_back(t.shape());
    std::multiset<std::string> used;
    const auto plan = engine::PlanBuilder(*model, engine::default_config(2)).build(shapes);
    for (const engine::Step& s : plan->steps) used.insert(s.tactic);
    EXPECT_TRUE(used.contains(tactic)) << (used.empty() ? "nothing" : *used.begin());
    EXPECT_FALSE(used.contains("evaluate"));
    std::vector<Tensor> wanted(g.outputs.size());
    Interpreter(model, {}).run(feed, [&](const Value& v, std::span<const Tensor> lanes) {
      for (size_t i = 0; i < wanted.size(); ++i)
        if (g.outputs[i] == &v) wanted[i] = lanes[0];
    });
    SessionOptions options;
    options.threads = 2;
    const std::unique_ptr<Session> session = built_in_backends().get("engine").open({model, {}}, options);
    for (int repeat = 0; repeat < 2; ++repeat) {
      std::vector<Tensor> y(wanted.size());
      session->run(feed, [&](size_t i, Tensor t) { y[i] = std::move(t); });
      for (size_t i = 0; i < y.size(); ++i) compare(y[i], wanted[i], exact);
    }
  }

  Tensor draw(DType dtype, const Shape& shape, Numbers numbers, double range) {
    Tensor t = Tensor::allocate(DType::kFloat64, shape);
    std::uniform_real_distribution<double> uniform(-range, range);
    for (double& x : t.mutable_span<double>()) {
      x = is_float(dtype) ? uniform(random_) : std::nearbyint(uniform(random_) * (range < 8 ? 30 : 1));
      if (numbers == Numbers::kSpecial && random_() % 9 == 0)
        x = random_() % 3 == 0 ? std::nan("") : random_() % 2 == 0 ? HUGE_VAL : -HUGE_VAL;
    }
    return convert(convert(t, is_float(dtype) ? DType::kFloat64 : DType::kInt64), dtype);
  }

  static void compare(const Tensor& got, const Tensor& wanted, bool exact) {
    ASSERT_EQ(got.shape(), wanted.shape());
    const Tensor a = convert(got, DType::kFloat64),
                 b = convert(convert(wanted, got.dtype()), DType::kFloat64);
    double top = 1e-3;
    for (const double x : b.span<double>()) top = std::max(top, std::isfinite(x) ? std::abs(x) : 0);
    for (int64_t i = 0; i < a.numel(); ++i) {
      const double x = a.data<double>()[i], y = b.data<double>()[i];
      if (exact || !std::isfinite(y))
        ASSERT_TRUE(x == y || (x != x && y != y)) << x << " instead of " << y << " at " << i;
      else
        ASSERT_NEAR(x, y, 1e-5 * top) << "at " << i;
    }
  }

 private:
  std::mt19937 random_{17};
};

constexpr const char* kNumberTypes[] = {"float",  "double", "int8",   "uint8", "int16",
                                        "uint16", "int32",  "uint32", "int64", "uint64"};

TEST_F(EngineRareTest, PlacesOfExtremes) {
  for (const std::string type : kNumberTypes)
    for (const char* op : {"ArgMax", "ArgMin"})
      for (const int axis : {0, 1, -1})
        check("(" + type + "[3,37,70] x) => (int64[n,m] y)", "",
              fmt::format("y = {} <axis = {}, keepdims = 0, select_last_index = {}> (x)", op, axis,
                          axis == 1 ? 1 : 0),
              "arg_extreme!");
  check("(float[3,200] x) => (int64[n,m] y)", "", "y = ArgMax <axis = 1> (x)", "arg_extreme!",
        Numbers::kSpecial);
}

TEST_F(EngineRareTest, RunningSums) {
  for (const std::string type : {"float", "double", "int32", "uint32", "int64", "uint64"})
    for (const int axis : {0, 1, -1})
      for (const int flags : {0, 1, 2, 3})
        check("(" + type + "[3,37,40] x) => (" + type + "[3,37,40] y)", fmt::format("int64 a = {{{}}}", axis),
              fmt::format("y = CumSum <exclusive = {}, reverse = {}> (x, a)", flags % 2, flags / 2),
              type.find("int") != std::string::npos ? "running_sum!" : "running_sum");
  check("(float[5,9] x) => (float[5,9] y)", "int64 a = {1}", "y = CumProd (x, a)", "running_sum",
        Numbers::kPlain, 2, {}, 26);
  check("(float[5,90] x) => (float[5,90] y)", "int64 a = {1}", "y = CumSum (x, a)", "running_sum",
        Numbers::kSpecial);
}

TEST_F(EngineRareTest, BestElements) {
  for (const std::string type : kNumberTypes)
    for (const int axis : {0, 1, 2})
      for (const int k : {0, 1, 3})
        check("(" + type + "[3,37,20] x) => (" + type + "[a,b,c] y, int64[a,b,c] i)",
              fmt::format("int64[1] k = {{{}}}", k),
              fmt::format("y, i = TopK <axis = {}, largest = {}> (x, k)", axis, k != 3 ? 1 : 0), "top_k!");
  check("(float[4,300] x) => (float[a,b] y, int64[a,b] i)", "int64[1] k = {150}", "y, i = TopK (x, k)",
        "top_k!", Numbers::kSpecial);
}

TEST_F(EngineRareTest, IntegersOfEveryWidthElementByElement) {
  for (const std::string type : {"int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"}) {
    const std::string two = "(" + type + "[3,70] x, " + type + "[70] z) => (";
    for (const char* op : {"Add", "Sub", "Mul", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Max", "Min"})
      check(two + type + "[3,70] y)", "", fmt::format("y = {} (x, z)", op), "pointwise!");
    for (const char* op : {"Equal", "Less", "GreaterOrEqual"})
      check(two + "bool[3,70] y)", "", fmt::format("y = {} (x, z)", op), "pointwise!");
    check(two + type + "[3,70] y)", "", "c = Greater (x, z) y = Where (c, z, x)", "pointwise!");
    for (const auto& [to, name] : {std::pair{1, "float"},
                                   {2, "uint8"},
                                   {3, "int8"},
                                   {4, "uint16"},
                                   {5, "int16"},
                                   {6, "int32"},
                                   {7, "int64"},
                                   {9, "bool"},
                                   {11, "double"},
                                   {12, "uint32"},
                                   {13, "uint64"}})
      if (name != type)
        check("(" + type + "[3,70] x) => (" + name + "[3,70] y)", "",
              fmt::format("y = Cast <to = {}> (x)", to), "pointwise!");
  }
  for (const std::string type : {"uint8", "uint16", "uint32", "uint64"})
    for (const char* direction : {"LEFT", "RIGHT"})
      check("(" + type + "[3,70] x, " + type + "[70] z) => (" + type + "[3,70] y)", "",
            fmt::format("y = BitShift <direction = \"{}\"> (x, z)", direction), "pointwise!", Numbers::kPlain,
            1);
}

TEST_F(EngineRareTest, TrianglesAndReversedSequences) {
  for (const std::string type : {"float", "double", "int8", "bool", "float16"}) {
    for (const int k : {-9, -1, 0, 2, 50})
      for (const int upper : {0, 1})
        check("(" + type + "[2,7,5] x) => (" + type + "[2,7,5] y)", fmt::format("int64 k = {{{}}}", k),
              fmt::format("y = Trilu <upper = {}> (x, k)", upper), "triangle!");
    const Tensor lengths = Tensor::vector<int64_t>({0, 6, 3});
    check("(int64[3] n, " + type + "[6,3,4] x) => (" + type + "[6,3,4] y)", "", "y = ReverseSequence (x, n)",
          "reverse_sequence!", Numbers::kPlain, 4, {lengths});
    check("(int64[3] n, " + type + "[3,6] x) => (" + type + "[3,6] y)", "",
          "y = ReverseSequence <batch_axis = 0, time_axis = 1> (x, n)", "reverse_sequence!", Numbers::kPlain,
          4, {lengths});
  }
}

TEST_F(EngineRareTest, PoolsWithPlacesAndOfBytes) {
  for (const std::string type : {"float", "double", "int8", "uint8"})
    for (const char* window :
         {"kernel_shape = [2, 2], strides = [2, 2]", "kernel_shape = [3, 2], pads = [1, 1, 0, 1]",
          "kernel_shape = [2, 3], dilations = [2, 3], strides = [1, 3], storage_order = 1",
          "kernel_shape = [3, 3], strides = [2, 2], ceil_mode = 1"})
      check("(" + type + "[2,3,9,11] x) => (" + type + "[n,c,h,w] y, int64[n,c,h,w] i)", "",
            fmt::format("y, i = MaxPool <{}> (x)", window), "max_pool!");
  check("(uint8[2,3,40] x) => (uint8[n,c,w] y)", "", "y = MaxPool <kernel_shape = [3], strides = [2]> (x)",
        "max_pool!");
  check("(float[1,2,5,6,7] x) => (float[n,c,d,h,w] y, int64[n,c,d,h,w] i)", "",
        "y, i = MaxPool <kernel_shape = [2, 2, 3], strides = [1, 2, 1]> (x)", "max_pool!");
  check("(float[2,2,9,600] x) => (float[n,c,h,w] y, int64[n,c,h,w] i)", "",
        "y, i = MaxPool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x)", "max_pool!", Numbers::kSpecial);
}

TEST_F(EngineRareTest, BlocksFoldedIntoImages) {
  for (const std::string type : {"float", "double", "int32", "uint8"})
    check("(" + type + "[2,18,16] x) => (" + type + "[2,2,4,4] y)",
          "int64[2] image = {4, 4}, int64[2] block = {3, 3}",
          "y = Col2Im <pads = [1, 1, 1, 1]> (x, image, block)",
          type == "float" || type == "double" ? "fold_columns" : "fold_columns!");
  check("(float[1,6,12] x) => (float[1,1,5,9] y)", "int64[2] image = {5, 9}, int64[2] block = {2, 3}",
        "y = Col2Im <strides = [1, 2], dilations = [2, 1], pads = [0, 1, 0, 0]> (x, image, block)",
        "fold_columns", Numbers::kSpecial);
  check("(float[2,6,5] x) => (float[2,2,7] y)", "int64[1] image = {7}, int64[1] block = {3}",
        "y = Col2Im (x, image, block)", "fold_columns");
}

TEST_F(EngineRareTest, ImagesAtThePlacesOfGrids) {
  for (const std::string mode : {"nearest", "linear", "cubic"})
    for (const char* edge : {"zeros", "border", "reflection"})
      for (const int align : {0, 1})
        for (const Numbers numbers : {Numbers::kPlain, Numbers::kSpecial}) {
          const std::string attributes =
              fmt::format("mode = \"{}\", padding_mode = \"{}\", align_corners = {}", mode, edge, align);
          const std::string tactic = mode == "nearest" ? "grid_sample!" : "grid_sample";
          check("(float[2,13,9,2] grid, float[2,3,6,5] x) => (float[2,3,13,9] y)", "",
                "y = GridSample <" + attributes + "> (x, grid)", tactic, numbers, 1.6);
          check("(float[1,4,3,5,3] grid, float[1,2,3,4,1] x) => (float[1,2,4,3,5] y)", "",
                "y = GridSample <" + attributes + "> (x, grid)", tactic, numbers, 1.3);
        }
  check("(float[1,9,1] grid, float[1,2,6] x) => (float[1,2,9] y)", "", "y = GridSample (x, grid)",
        "grid_sample", Numbers::kPlain, 1.2);
}

TEST_F(EngineRareTest, RegionsSampledIntoCells) {
  const Tensor images = Tensor::vector<int64_t>({1, 0, 1, 0});
  const Tensor regions =
      Tensor::vector<float>({0, 0, 9, 7, 2, 1, 3, 2, -3, -4, 40, 30, 6, 6, 2, 3}).reshaped({4, 4});
  for (const char* mode : {"avg", "max"})
    for (const char* shift : {"half_pixel", "output_half_pixel"})
      for (const int ratio : {0, 1, 3})
        for (const Numbers numbers : {Numbers::kPlain, Numbers::kSpecial})
          check(
              "(int64[4] i, float[4,4] r, float[2,5,8,9] x) => (float[4,5,3,2] y)", "",
              fmt::format(
                  "y = RoiAlign <mode = \"{}\", coordinate_transformation_mode = \"{}\", output_height = 3, "
                  "output_width = 2, sampling_ratio = {}, spatial_scale = 0.9> (x, r, i)",
                  mode, shift, ratio),
              "roi_align", numbers, 4, {images, regions});
}

TEST_F(EngineRareTest, DeformableConvolutions) {
  check("(float[2,4,7,6] x, float[6,4,3,3] w, float[2,18,7,6] o) => (float[2,6,7,6] y)", "",
        "y = DeformConv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x, w, o)", "deform_conv");
  check(
      "(float[1,4,7,6] x, float[6,2,2,2] w, float[1,16,3,5] o, float[6] b, float[1,8,3,5] m) => "
      "(float[1,6,3,5] y)",
      "",
      "y = DeformConv <kernel_shape = [2, 2], strides = [2, 1], group = 2, offset_group = 2> (x, w, o, b, m)",
      "deform_conv");
  check("(float[1,2,9] x, float[3,2,3] w, float[1,3,5] o) => (float[1,3,5] y)", "",
        "y = DeformConv <kernel_shape = [3], dilations = [2]> (x, w, o)", "deform_conv", Numbers::kPlain, 20);
}

TEST_F(EngineRareTest, FourierTransformsOfAnyLength) {
  for (const int n : {1, 2, 3, 4, 5, 7, 8, 12, 60, 77, 101, 131, 278, 400, 512})
    for (const int inverse : {0, 1}) {
      check(fmt::format("(float[19,{0},2] x) => (float[19,{0},2] y)", n), "",
            fmt::format("y = DFT <inverse = {}> (x)", inverse), "fourier");
      if (inverse == 0)
        check(fmt::format("(float[2,{},3,1] x) => (float[a,b,c,d] y)", n), "int64 axis = {1}",
              "y = DFT <onesided = 1> (x, , axis)", "fourier");
      else if (n > 1)
        check(fmt::format("(float[2,{},3,2] x) => (float[a,b,c,d] y)", n), "int64 axis = {-3}",
              "y = DFT <onesided = 1, inverse = 1> (x, , axis)", "fourier");
    }
  // Cropped, and padded with zeros.
  for (const int n : {5, 16})
    check("(float[3,9,1] x) => (float[3,n,2] y)", fmt::format("int64 n = {{{}}}", n), "y = DFT (x, n)",
          "fourier");
  check("(float[3,9,2] x) => (float[3,9,2] y)", "", "y = DFT <axis = 1> (x)", "fourier", Numbers::kPlain, 4,
        {}, 17);
}

TEST_F(EngineRareTest, FramesOfSignals) {
  check("(float[2,90,1] x, float[30] w) => (float[2,f,16,2] y)", "int64 s = {7}", "y = STFT (x, s, w)",
        "fourier");
  check("(float[1,64,1] x) => (float[1,f,16,2] y)", "int64 s = {16}, int64 n = {16}",
        "y = STFT <onesided = 0> (x, s, , n)", "fourier");
  check("(float[1,400,1] x, float[137] w) => (float[1,f,69,2] y)", "int64 s = {50}", "y = STFT (x, s, w)",
        "fourier");
  check("(float[1,50,2] x, float[20] w) => (float[1,f,20,2] y)", "int64 s = {3}",
        "y = STFT <onesided = 0> (x, s, w)", "fourier");
}

}  // namespace
}  // namespace assay::engine_rare_test
