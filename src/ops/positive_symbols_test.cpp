#include "ops/positive_symbols.h"

#include <gtest/gtest.h>

#include "ops/infer.h"

namespace assay::positive_symbols_test {
namespace {

ExtentForm read(std::string_view text) { return ExtentForm::read(text).value(); }

TEST(PositiveSymbols, HoldWithinTheirScope) {
  EXPECT_FALSE(PositiveSymbols::is_never_negative(read("n-1")));
  const std::vector<Dims> shapes = {{Dim(2), Dim::symbol("n")}, {Dim::symbol("m+1")}};
  {
    const PositiveSymbols positive(shapes);
    EXPECT_TRUE(PositiveSymbols::is_never_negative(read("n-1")));
    EXPECT_FALSE(PositiveSymbols::is_never_negative(read("n-2")));
    // m + 1 is positive, and m may be 0.
    EXPECT_FALSE(PositiveSymbols::is_never_negative(read("m-1")));
    EXPECT_FALSE(PositiveSymbols::is_never_negative(read("n+m-1")));
  }
  EXPECT_FALSE(PositiveSymbols::is_never_negative(read("n-1")));
}

/// The last elements of [1, total]: by a negative start, and between computed ends.
class LastElements : public testing::Test {
 protected:
  LastElements() {
    model.opsets = {{"", 18}};
    x = g.add_input("x", Type::tensor(DType::kInt64, Dims{Dim(1), Dim::symbol("total")}));
  }
  Value* op(const std::string& type, std::vector<Value*> inputs, AttributeList attributes = {}) {
    Value* out = g.add_value(g.unique_name(type));
    g.add_node(type, std::move(inputs), {out}, std::move(attributes), out->name());
    return out;
  }
  Value* ints(std::vector<int64_t> v) {
    return g.add_constant(g.unique_name("ints"), Tensor::vector<int64_t>(v));
  }
  /// The extent of axis 1.
  Dim extent_of(Value* start, Value* end) {
    Value* y = op("Slice", {x, start, end, ints({1})});
    g.outputs = {y};
    infer_shapes(model);
    return y->type.dims->at(1);
  }
  Dim positive_extent_of(Value* start, Value* end) {
    const std::vector<Dims> shapes = {*x->type.dims};
    const PositiveSymbols positive(shapes);
    return extent_of(start, end);
  }
  Value* total() { return op("Gather", {op("Shape", {x}), ints({1})}); }

  Model model;
  Graph& g = *model.graph;
  Value* x = nullptr;
};

TEST_F(LastElements, ByANegativeStart) {
  Value *start = ints({-1}), *end = ints({INT64_MAX});
  EXPECT_FALSE(extent_of(start, end).is_known());
  EXPECT_EQ(positive_extent_of(start, end), Dim(1));
  EXPECT_FALSE(positive_extent_of(ints({-2}), end).is_known());
}

TEST_F(LastElements, BetweenComputedEnds) {
  Value* end = total();
  EXPECT_EQ(positive_extent_of(op("Sub", {end, ints({1})}), end), Dim(1));
  EXPECT_FALSE(positive_extent_of(op("Sub", {end, ints({3})}), end).is_known());
  // Beyond the end there is nothing.
  EXPECT_FALSE(positive_extent_of(end, op("Add", {end, ints({1})})).is_known());
}

TEST_F(LastElements, AllOfThem) { EXPECT_EQ(extent_of(ints({0}), total()), Dim::symbol("total")); }

}  // namespace
}  // namespace assay::positive_symbols_test
