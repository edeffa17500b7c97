#include "surgeon/weight_strip.h"

#include <gtest/gtest.h>

#include "graph/initializer_data.h"

namespace assay::weight_strip_test {
namespace {

class WeightStrip : public ::testing::Test {
 protected:
  WeightStrip() {
    model_.opsets = {{"", 17}};
    x_ = g_.add_input("x", Type::tensor(DType::kFloat32, Shape()));
  }
  Value* constant(const std::string& name, Shape shape, DType dtype = DType::kFloat32) {
    return g_.add_constant(name, Tensor::zeros(dtype, std::move(shape)));
  }
  Value* node(const std::string& op, std::vector<Value*> inputs, const std::string& domain = {}) {
    Value* out = g_.add_value("v" + std::to_string(g_.nodes().size()), {});
    g_.add_node(op, std::move(inputs), {out}, {}, {}, domain);
    return out;
  }
  std::set<std::string> strip(const std::set<std::string>& excluded = {}) {
    const int64_t count = strip_weights(model_, excluded);
    std::set<std::string> names;
    for (const auto& v : g_.values())
      if (is_weightless(*v)) names.insert(v->name());
    EXPECT_EQ(static_cast<size_t>(count), names.size());
    return names;
  }

  Model model_;
  Graph& g_ = *model_.graph;
  Value* x_;
};

using Names = std::set<std::string>;

TEST_F(WeightStrip, OperandsOfProducts) {
  node("Conv", {x_, constant("conv", {4, 3, 1, 1}), constant("bias", {4})});
  node("ConvTranspose", {x_, constant("transposed", {3, 4, 1, 1})});
  node("Gemm", {constant("a", {1, 3}), x_, constant("c", {3})});
  node("MatMul", {x_, constant("b", {2, 2})});
  node("Add", {x_, constant("added", {4})});
  EXPECT_EQ(strip(), (Names{"conv", "bias", "transposed", "a", "c", "b"}));
}

TEST_F(WeightStrip, BehindTransposeAndQuantization) {
  node("MatMul", {x_, node("Transpose", {constant("transposed", {2, 3})})});
  node("Relu", {node("Transpose", {constant("kept", {2, 3})})});
  const auto quantized = [&](const std::string& name) {
    Value* q = node("QuantizeLinear", {constant(name, {4, 4}), constant(name + "_scale", {}),
                                       constant(name + "_zero", {}, DType::kInt8)});
    return node("DequantizeLinear", {q, g_.find_value(name + "_scale")});
  };
  node("Conv", {x_, quantized("conv")});
  node("Gemm", {quantized("gemm"), x_});
  node("Relu", {quantized("plain")});
  EXPECT_EQ(strip(), (Names{"transposed", "conv", "gemm"}));
}

TEST_F(WeightStrip, SmallConstantsOfGatherSliceAndUnknownOperatorsStay) {
  node("Gather", {constant("table", {1024}), constant("indices", {4}, DType::kInt64)});
  node("Gather", {constant("short_table", {1023}), x_});
  node("Slice", {constant("sliced", {32, 32}), constant("starts", {2000}, DType::kInt64),
                 constant("ends", {2000}, DType::kInt64)});
  node("Frobnicate", {constant("plugin", {1024}), constant("plugin_axis", {1})});
  node("Conv", {x_, constant("foreign", {1024}), constant("foreign_small", {4})}, "com.someone");
  EXPECT_EQ(strip(), (Names{"table", "sliced", "plugin", "foreign"}));
}

TEST_F(WeightStrip, TypesThatStay) {
  node("MatMul", {x_, constant("bytes", {2, 2}, DType::kUInt8)});
  node("MatMul", {x_, constant("signed", {2, 2}, DType::kInt8)});
  node("Gather", {constant("strings", {2000}, DType::kString), x_});
  EXPECT_EQ(strip(), (Names{"signed"}));
}

TEST_F(WeightStrip, ExcludedNamesStayEverywhere) {
  Value* shared = constant("shared", {2, 2});
  node("MatMul", {x_, shared});
  node("MatMul", {x_, shared});
  node("MatMul", {x_, constant("other", {2, 2})});
  EXPECT_EQ(strip({"shared", "nowhere"}), (Names{"other"}));
}

TEST_F(WeightStrip, Marks) {
  Value* dense = g_.add_constant("dense", Tensor::from<float>({4, 1}, {1, 2, 3, 4}));
  Value* sparse = g_.add_constant("sparse", Tensor::from<float>({4, 1}, {1, 0, 3, 0}));
  node("MatMul", {x_, dense});
  node("MatMul", {x_, sparse});
  model_.doc_string = "a model";
  EXPECT_EQ(strip(), (Names{"dense", "sparse"}));
  EXPECT_EQ(dense->doc_string, "TRT_WEIGHTLESS/");
  EXPECT_EQ(sparse->doc_string, "TRT_WEIGHTLESS/SPARSE_2_4");
  EXPECT_EQ(model_.doc_string, "a model-TRT_WEIGHTLESS");
}

TEST_F(WeightStrip, ASecondTimeDoesNothing) {
  node("MatMul", {x_, constant("w", {4, 1})});
  strip();
  const std::string mark = g_.find_value("w")->doc_string;
  EXPECT_EQ(model_.doc_string, "TRT_WEIGHTLESS");
  EXPECT_EQ(strip_weights(model_), 0);
  EXPECT_EQ(model_.doc_string, "TRT_WEIGHTLESS");
  EXPECT_EQ(g_.find_value("w")->doc_string, mark);
}

TEST_F(WeightStrip, NothingToStripLeavesTheModelUnmarked) {
  node("Relu", {x_});
  struct : WeightObserver {
    void on_nothing_to_strip(std::span<const std::string_view> products) override { count = products.size(); }
    size_t count = 0;
  } told;
  EXPECT_EQ(strip_weights(model_, {}, &told), 0);
  EXPECT_GT(told.count, 2U);
  EXPECT_EQ(model_.doc_string, "");
}

}  // namespace
}  // namespace assay::weight_strip_test
