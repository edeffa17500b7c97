// Selecting and placing elements: exact for any elements.
#include "convert/convert_test_util.h"

namespace assay::indexing_test {
namespace {

Tensor flags(const Shape& shape) {
  Tensor t = Tensor::allocate(DType::kBool, shape);
  for (int64_t i = 0; i < t.numel(); ++i) t.mutable_data<bool>()[i] = i % 3 == 1;
  return t;
}

Tensor nan_and_more(const Shape& shape) {
  Tensor t = mixed(shape);
  const float odd[] = {NAN, INFINITY, -INFINITY, -0.0F};
  for (int64_t i = 0; i < std::min<int64_t>(4, t.numel()); ++i) t.mutable_data<float>()[i] = odd[i];
  return t;
}

TEST(IndexingExpansion, WhereLeaksNothing) {
  expect_same({"Where", 9, {flags({2, 3}), nan_and_more({2, 3}), mixed({2, 3})}}, 8);
  expect_same({"Where", 9, {flags({2, 1}), mixed({3}), nan_and_more({4, 1, 1})}}, 7);
  expect_same({"Where", 16, {flags({4, 2, 3}), int64s({5}), Tensor::scalar(int64_t{-1})}}, 7);
  expect_same({"Where", 9, {Tensor::scalar(true), nan_and_more({4}), Tensor::scalar(1.0F)}}, 7);
  expect_same({"Where", 9, {flags({2, 0}), mixed({1, 1}), mixed({2, 0})}}, 8);
  expect_same({"Where",
               9,
               {flags({3}), Tensor::vector(std::vector<std::string>{"a", "b", "c"}),
                Tensor::vector(std::vector<std::string>{"x"})}},
              8);
  EXPECT_NE(refusal(with_open_axes({"Where", 9, {flags({2}), mixed({2}), mixed({2})}}, 1, {0}), 8)
                .find("the shape of input 1 is not known"),
            std::string::npos);
}

TEST(IndexingExpansion, Expand) {
  const auto shape = [](const Ints& s) { return fixed(int64s(s)); };
  expect_same({"Expand", 8, {nan_and_more({3, 1}), shape({2, 1, 6})}}, 7, {"Unsqueeze", "Tile"});
  expect_same({"Expand", 13, {flags({1, 3}), shape({4, 1})}}, 6, {"Tile"});
  expect_same({"Expand", 8, {mixed({2, 3, 4}), shape({4})}}, 7, {"Tile"});
  expect_same({"Expand", 8, {mixed({1, 3}), shape({0, 1})}}, 7);
  expect_same({"Expand", 8, {Tensor::scalar(2.5F), shape({2, 2})}}, 7);
  // An unknown extent needs to be repeated only if another is requested.
  expect_same(with_open_axes({"Expand", 8, {mixed({2, 1}), shape({1, 3})}}, 0, {0}), 7);
  EXPECT_NE(
      refusal(with_open_axes({"Expand", 8, {mixed({2, 1}), shape({2, 1})}}, 0, {0}), 7).find("extent 0"),
      std::string::npos);
  EXPECT_NE(refusal({"Expand", 8, {mixed({2, 1}), int64s({2, 2})}}, 7).find("'shape' is not constant"),
            std::string::npos);
}

TEST(IndexingExpansion, Constants) {
  const AttributeList two = {{"value", Tensor::vector(std::vector<double>{2.5})}};
  expect_same({"ConstantOfShape", 9, {int64s({2, 3})}, two}, 8, {"Expand"});
  expect_same({"ConstantOfShape", 9, {fixed(int64s({2, 3}))}}, 7);
  expect_same({"ConstantOfShape", 20, {int64s({0, 3})}}, 8);
  for (const int64_t k : {-1, 0, 2})
    expect_same({"EyeLike", 9, {mixed({3, 4})}, {{"k", k}, {"dtype", int64_t{7}}}}, 8);
}

TEST(IndexingExpansion, Gathers) {
  const Tensor data = nan_and_more({3, 4, 2});
  expect_same({"GatherElements",
               11,
               {data, int64s({0, -1, 2, 1, -3, 0}).reshaped({3, 1, 2})},
               {{"axis", int64_t{0}}}},
              10);
  expect_same({"GatherElements",
               13,
               {data, convert(int64s({3, -4}), DType::kInt32).reshaped({1, 2, 1})},
               {{"axis", int64_t{-2}}}},
              7);
  expect_same({"GatherElements", 11, {data, Tensor::zeros(DType::kInt64, {3, 0, 2})}, {{"axis", int64_t{1}}}},
              10);
  expect_same({"GatherND", 11, {data, int64s({0, 1, -1, 3}).reshaped({2, 2})}}, 10);
  expect_same({"GatherND", 11, {data, int64s({2, -1, 1, 0, 0, 0}).reshaped({2, 1, 3})}}, 7);
  const AttributeList batch = {{"batch_dims", int64_t{1}}};
  for (const int64_t to : {11, 7}) {
    expect_same({"GatherND", 12, {data, int64s({1, -1, 0}).reshaped({3, 1})}, batch}, to);
    expect_same({"GatherND", 13, {data, int64s({1, 0, -1, 1, 0, 0}).reshaped({3, 1, 2})}, batch}, to);
  }
  expect_same({"GatherND", 13, {data, int64s({1})}}, 11, {"GatherND"});
}

TEST(IndexingExpansion, OneHot) {
  const TestInput depth = fixed(Tensor::scalar(int64_t{4}));
  const Tensor values = floats({NAN, INFINITY});
  for (const int64_t axis : {-1, 0, 1})
    expect_same(
        {"OneHot", 9, {int64s({0, -1, 3, 7, -5, -4}).reshaped({2, 3}), depth, values}, {{"axis", axis}}}, 7);
  expect_same({"OneHot", 11, {floats({1.5F, -1}), fixed(floats({3})), int64s({5, 6})}}, 8);
  EXPECT_NE(refusal({"OneHot", 11, {int64s({1}), int64s({3}), values}}, 8).find("'depth' is not constant"),
            std::string::npos);
}

}  // namespace
}  // namespace assay::indexing_test
