#include "analysis/nbits_matrix.h"

#include <gtest/gtest.h>

#include <random>

#include "ops/op_test_util.h"

namespace assay::nbits_matrix_test {
namespace {

/// A DequantizeLinear of a constant matrix with random elements.
class Weights {
 public:
  Weights(DType type, const Shape& shape, const Shape& scales, AttributeList attributes,
          bool has_zeros = false)
      : n_("DequantizeLinear", 25, {true, true, has_zeros}, std::move(attributes), 1, "") {
    operands_ = {random(type, shape), random_scales(scales)};
    if (has_zeros) operands_.push_back(random(type, scales));
    for (size_t i = 0; i < operands_.size(); ++i) {
      node().input(i)->type = type_of(operands_[i]);
      node().input(i)->set_tensor(operands_[i]);
    }
    node().output(0)->type = Type::tensor(DType::kFloat32, shape);
  }

  Node& node() const { return n_.node(); }
  /// The numbers that the operator gives.
  Tensor numbers() const {
    EvalContext c(node(), n_.op(), n_.version(), operands_);
    c.ideal = true;
    n_.version().eval(c);
    return c.outputs().at(0);
  }

 private:
  Tensor random(DType type, const Shape& shape) {
    Tensor t = Tensor::allocate(type, shape);
    auto* bytes = static_cast<uint8_t*>(t.mutable_data());
    // Of 2 and 4 bits the last byte is not full.
    const auto used = static_cast<unsigned>(shape.numel() * bit_width(type) % 8);
    for (size_t i = 0; i < t.nbytes(); ++i)
      bytes[i] =
          static_cast<uint8_t>(random_() & (i + 1 == t.nbytes() && used != 0 ? (1U << used) - 1 : 255U));
    return t;
  }
  Tensor random_scales(const Shape& shape) {
    Tensor t = Tensor::allocate(DType::kFloat32, shape);
    for (float& x : t.mutable_span<float>()) x = 0.125F * static_cast<float>(1 + random_() % 16);
    return t;
  }

  std::mt19937 random_{11};
  OpTestNode n_;
  std::vector<Tensor> operands_;
};

int level(const Tensor& rows, int64_t r, int64_t i, int bits) {
  const uint8_t byte = rows.data<uint8_t>()[r * rows.dim(1) + i * bits / 8];
  return byte >> (i * bits % 8) & ((1 << bits) - 1);
}

void expect_same_numbers(const Weights& w, bool is_transposed, int64_t block) {
  const std::optional<NbitsForm> form = nbits_form(w.node(), is_transposed);
  ASSERT_TRUE(form.has_value());
  EXPECT_EQ(form->block, block);
  const NbitsMatrix m = nbits_matrix(w.node(), *form);
  const Tensor wanted = w.numbers();
  for (int64_t r = 0; r < form->rows; ++r)
    for (int64_t k = 0; k < form->depth; ++k) {
      const int64_t b = k / form->block;
      const int zero = m.zeros.defined() ? level(m.zeros, r, b, form->bits) : 1 << (form->bits - 1);
      double x =
          (level(m.levels, r, k, form->bits) - zero) * double{m.scales.data<float>()[r * form->blocks() + b]};
      if (m.factors.defined()) x *= double{m.factors.data<float>()[k]};
      ASSERT_EQ(x, wanted.data<double>()[is_transposed ? k * form->rows + r : r * form->depth + k])
          << r << ", " << k;
    }
}

TEST(NbitsMatrix, HoldsTheNumbersOfEveryForm) {
  const Shape shape = {21, 50};
  for (const DType type :
       {DType::kInt8, DType::kUInt8, DType::kInt4, DType::kUInt4, DType::kInt2, DType::kUInt2})
    for (const bool has_zeros : {false, true}) {
      SCOPED_TRACE(std::string(dtype_name(type)) + (has_zeros ? " with zeros" : ""));
      Weights whole(type, shape, {}, {}, has_zeros),
          rows(type, shape, {21}, {{"axis", int64_t{0}}}, has_zeros);
      Weights blocks(type, shape, {21, 2}, {{"axis", int64_t{-1}}, {"block_size", int64_t{48}}}, has_zeros);
      Weights across(type, {50, 21}, {2, 21}, {{"axis", int64_t{0}}, {"block_size", int64_t{32}}}, has_zeros);
      expect_same_numbers(whole, false, 64);
      expect_same_numbers(whole, true, 32);
      expect_same_numbers(rows, false, 64);
      expect_same_numbers(blocks, false, 16);
      expect_same_numbers(across, true, 32);
      if (has_zeros) continue;
      Weights columns(type, shape, {50}, {{"axis", int64_t{1}}});
      expect_same_numbers(columns, false, 64);
    }
}

TEST(NbitsMatrix, RefusesOtherForms) {
  const Shape shape = {32, 48};
  const auto refuses = [](const Weights& w, bool is_transposed) {
    return !nbits_form(w.node(), is_transposed).has_value();
  };
  // Across the rows, of 8, and with a zero point for each place of a row.
  EXPECT_TRUE(
      refuses({DType::kInt4, shape, {32, 3}, {{"axis", int64_t{1}}, {"block_size", int64_t{16}}}}, true));
  EXPECT_TRUE(
      refuses({DType::kInt4, shape, {32, 6}, {{"axis", int64_t{1}}, {"block_size", int64_t{8}}}}, false));
  EXPECT_TRUE(refuses({DType::kInt4, shape, {48}, {{"axis", int64_t{1}}}, true}, false));
  EXPECT_TRUE(refuses({DType::kFloat8E4M3FN, shape, {}, {}}, false));
  EXPECT_TRUE(refuses({DType::kInt4, {4, 8, 4}, {}, {}}, false));
  EXPECT_TRUE(refuses({DType::kInt16, shape, {}, {}}, false));
}

}  // namespace
}  // namespace assay::nbits_matrix_test
