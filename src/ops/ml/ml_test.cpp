#include <cmath>
#include <limits>

#include "ops/ml/ml_test_util.h"

namespace assay::ml_test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(ArrayFeatureExtractor, TakesColumnsOfAnyType) {
  const Tensor x = Tensor::from<std::string>({2, 3}, Strings{"a", "b", "c", "d", "e", "f"});
  const Tensor z = run_ml("ArrayFeatureExtractor", 1, {x, Tensor::from<int64_t>({1, 2}, Ints{2, 0})}, {})[0];
  EXPECT_EQ(z.shape(), (Shape{2, 2}));
  EXPECT_EQ(words(z), (Strings{"c", "a", "f", "d"}));
  const Tensor row = Tensor::vector(Ints{5, 6, 7});
  EXPECT_EQ(run_ml("ArrayFeatureExtractor", 1, {row, Tensor::vector(Ints{1})}, {})[0].shape(), (Shape{1, 1}));
  EXPECT_THROW(run_ml("ArrayFeatureExtractor", 1, {row, Tensor::vector(Ints{3})}, {}), Error);
  EXPECT_THROW(run_ml("ArrayFeatureExtractor", 1, {row, Tensor::vector(Ints{-1})}, {}), Error);
  EXPECT_THROW(run_ml("ArrayFeatureExtractor", 1, {Tensor::scalar(1.0), Tensor::vector(Ints{0})}, {}), Error);
}

TEST(Binarizer, IsOneAboveTheThreshold) {
  const Tensor y =
      run_ml("Binarizer", 1, {Tensor::vector(Doubles{0.5, 0.6, kNaN})}, {{"threshold", 0.5F}})[0];
  expect_values(y, {0, 1, 0});
  EXPECT_EQ(run_ml("Binarizer", 1, {Tensor::vector(Ints{0, 1})}, {})[0].to_int64(), (Ints{0, 1}));
}

const AttributeList kCategories = {{"cats_strings", Strings{"a", "b", "a"}},
                                   {"cats_int64s", Ints{5, 6, 7}},
                                   {"default_string", std::string("none")}};

TEST(CategoryMapper, MapsBothWays) {
  EXPECT_EQ(run_ml("CategoryMapper", 1, {Tensor::vector(Strings{"b", "a", "q"})}, kCategories)[0].to_int64(),
            (Ints{6, 7, -1}));
  EXPECT_EQ(words(run_ml("CategoryMapper", 1, {Tensor::vector(Ints{5, 8})}, kCategories)[0]),
            (Strings{"a", "none"}));
  EXPECT_THROW(
      run_ml("CategoryMapper", 1, {Tensor::vector(Ints{5})}, with(kCategories, "cats_int64s", Ints{5})),
      Error);
}

TEST(FeatureVectorizer, CutsAndPads) {
  const Tensor a = Tensor::from<int64_t>({2, 2}, Ints{1, 2, 3, 4}),
               b = Tensor::from<int64_t>({2, 1}, Ints{5, 6});
  const Tensor y = run_ml("FeatureVectorizer", 1, {a, b}, {{"inputdimensions", Ints{1, 2}}})[0];
  EXPECT_EQ(y.shape(), (Shape{2, 3}));
  expect_values(y, {1, 5, 0, 3, 6, 0});
  EXPECT_EQ(run_ml("FeatureVectorizer", 1, {a, b}, {})[0].shape(), (Shape{2, 3}));
  EXPECT_EQ(run_ml("FeatureVectorizer", 1, {Tensor::vector(Ints{1, 2})}, {})[0].shape(), (Shape{1, 2}));
  EXPECT_THROW(run_ml("FeatureVectorizer", 1, {a, Tensor::vector(Ints{1})}, {}), Error);
  EXPECT_THROW(run_ml("FeatureVectorizer", 1, {a, b}, {{"inputdimensions", Ints{1}}}), Error);
  EXPECT_THROW(run_ml("FeatureVectorizer", 1, {a, b}, {{"inputdimensions", Ints{1, -1}}}), Error);
  EXPECT_THROW(run_ml("FeatureVectorizer", 1, {a, b}, {{"inputdimensions", Ints{INT64_MAX, INT64_MAX}}}),
               Error);
  EXPECT_THROW(run_ml("FeatureVectorizer", 1, {a, b}, {{"inputdimensions", Ints{1, int64_t{1} << 50}}}),
               Error);
}

TEST(Imputer, ReplacesOneValuePerFeature) {
  const Tensor x = Tensor::from<double>({2, 2}, Doubles{kNaN, 1, 2, kNaN});
  const AttributeList nans = {{"imputed_value_floats", Floats{7, 8}},
                              {"replaced_value_float", std::nanf("")}};
  expect_values(run_ml("Imputer", 1, {x}, nans)[0], {7, 1, 2, 8});
  expect_values(
      run_ml("Imputer", 1, {Tensor::vector(Doubles{0, 3})}, {{"imputed_value_floats", Floats{9}}})[0],
      {9, 3});
  const AttributeList whole = {{"imputed_value_int64s", Ints{int64_t{1} << 40}},
                               {"replaced_value_int64", int64_t{3}}};
  EXPECT_EQ(run_ml("Imputer", 1, {Tensor::vector(Ints{3, 4})}, whole)[0].to_int64(),
            (Ints{int64_t{1} << 40, 4}));
  EXPECT_THROW(run_ml("Imputer", 1, {Tensor::vector(std::vector<int32_t>{3})}, whole), Error);
  EXPECT_THROW(run_ml("Imputer", 1, {Tensor::vector(Ints{3})}, nans), Error);
  EXPECT_THROW(run_ml("Imputer", 1, {Tensor::from<double>({1, 3}, Doubles{1, 2, 3})}, nans), Error);
}

TEST(LabelEncoder, MapsAnyTypeToAnyOther) {
  const AttributeList to_floats = {{"keys_strings", Strings{"a", "b", "a"}},
                                   {"values_floats", Floats{1, 2, 3}}};
  const Tensor y = run_ml("LabelEncoder", 2, {Tensor::vector(Strings{"b", "a", "z"})}, to_floats)[0];
  EXPECT_TRUE(y.identical(Tensor::vector(Floats{2, 1, -0.0F})));
  const Tensor later = run_ml("LabelEncoder", 4, {Tensor::vector(Strings{"b", "a", "z"})}, to_floats)[0];
  EXPECT_TRUE(later.identical(Tensor::vector(Floats{2, 3, -0.0F})));
  const AttributeList tensors = {{"keys_tensor", Tensor::vector(std::vector<int16_t>{4, 5})},
                                 {"values_tensor", Tensor::vector(Strings{"four", "five"})},
                                 {"default_tensor", Tensor::vector(Strings{"many"})}};
  EXPECT_EQ(words(run_ml("LabelEncoder", 4, {Tensor::vector(std::vector<int16_t>{5, 6})}, tensors)[0]),
            (Strings{"five", "many"}));
}

TEST(LabelEncoder, FindsNaNFromVersionFour) {
  const AttributeList nans = {{"keys_floats", Floats{1, std::nanf("")}}, {"values_int64s", Ints{10, 20}}};
  const Tensor x = Tensor::vector(Floats{std::nanf("1"), 1});
  EXPECT_EQ(run_ml("LabelEncoder", 4, {x}, nans)[0].to_int64(), (Ints{20, 10}));
  EXPECT_EQ(run_ml("LabelEncoder", 2, {x}, nans)[0].to_int64(), (Ints{-1, 10}));
}

TEST(LabelEncoder, VersionOneNumbersItsClasses) {
  const AttributeList classes = {{"classes_strings", Strings{"x", "y"}}};
  EXPECT_EQ(run_ml("LabelEncoder", 1, {Tensor::vector(Strings{"y", "z"})}, classes)[0].to_int64(),
            (Ints{1, -1}));
  EXPECT_EQ(words(run_ml("LabelEncoder", 1, {Tensor::vector(Ints{1, 2})}, classes)[0]),
            (Strings{"y", "_Unused"}));
}

TEST(LabelEncoder, RejectsBadLists) {
  const AttributeList good = {{"keys_int64s", Ints{1, 2}}, {"values_int64s", Ints{3, 4}}};
  const Tensor x = Tensor::vector(Ints{1});
  EXPECT_THROW(run_ml("LabelEncoder", 2, {x}, with(good, "values_int64s", Ints{3})), Error);
  EXPECT_THROW(run_ml("LabelEncoder", 2, {x}, with(good, "values_strings", Strings{"a", "b"})), Error);
  EXPECT_THROW(run_ml("LabelEncoder", 2, {x}, without(good, "keys_int64s")), Error);
  EXPECT_THROW(run_ml("LabelEncoder", 2, {Tensor::vector(Strings{"a"})}, good), Error);
  EXPECT_THROW(run_ml("LabelEncoder", 4, {x}, with(good, "default_tensor", Tensor::vector(Floats{1}))),
               Error);
}

TEST(Normalizer, DividesRowsAndKeepsSigns) {
  const Tensor x = Tensor::from<double>({2, 3}, Doubles{3, -4, 0, 0, 0, 0});
  const auto normalized = [&](const char* norm) {
    return run_ml("Normalizer", 1, {x}, {{"norm", std::string(norm)}})[0];
  };
  expect_values(normalized("L2"), {0.6, -0.8, 0, 0, 0, 0});
  expect_values(normalized("L1"), {3.0 / 7, -4.0 / 7, 0, 0, 0, 0});
  expect_values(normalized("MAX"), {1, -4.0 / 3, 0, 0, 0, 0});
  EXPECT_THROW(normalized("MIN"), Error);
  EXPECT_EQ(run_ml("Normalizer", 1, {Tensor::vector(Doubles{1, 2})}, {})[0].shape(), (Shape{2}));
}

TEST(OneHotEncoder, MarksTheCategory) {
  const AttributeList numbers = {{"cats_int64s", Ints{3, -1}}};
  const Tensor y = run_ml("OneHotEncoder", 1, {Tensor::vector(Doubles{3.9, -1, 0, kNaN, 1e300})}, numbers)[0];
  EXPECT_EQ(y.shape(), (Shape{5, 2}));
  expect_values(y, {1, 0, 0, 1, 0, 0, 0, 0, 0, 0});
  EXPECT_THROW(run_ml("OneHotEncoder", 1, {Tensor::vector(Ints{4})}, with(numbers, "zeros", int64_t{0})),
               Error);
  EXPECT_THROW(run_ml("OneHotEncoder", 1, {Tensor::vector(Strings{"3"})}, numbers), Error);
  EXPECT_THROW(run_ml("OneHotEncoder", 1, {Tensor::vector(Ints{4})}, {}), Error);
}

TEST(Scaler, OffsetsThenScales) {
  const Tensor x = Tensor::from<double>({2, 2}, Doubles{1, 2, 3, 4});
  expect_values(run_ml("Scaler", 1, {x}, {{"offset", Floats{1, 2}}, {"scale", Floats{10, 100}}})[0],
                {0, 0, 20, 200});
  expect_values(run_ml("Scaler", 1, {x}, {{"offset", Floats{1}}, {"scale", Floats{2}}})[0], {0, 2, 4, 6});
  EXPECT_THROW(run_ml("Scaler", 1, {x}, {{"offset", Floats{1, 2}}, {"scale", Floats{1}}}), Error);
  EXPECT_THROW(run_ml("Scaler", 1, {x}, {{"offset", Floats{1, 2, 3}}, {"scale", Floats{1, 2, 3}}}), Error);
  EXPECT_THROW(run_ml("Scaler", 1, {x}, {}), Error);
}

Type map_type(DType key, DType value) {
  Type t{.kind = Type::Kind::kMap, .dtype = key};
  t.element = std::make_shared<const Type>(Type::tensor(value));
  return t;
}

/// Evaluates an operator on a map.
Tensor run_on_map(std::string_view op, const Tensor& map, AttributeList attributes) {
  const OpTestNode n(op, 1, {true}, std::move(attributes), 1, "ai.onnx.ml");
  EvalContext c(n.node(), n.op(), n.version(), {map});
  n.version().eval(c);
  return c.outputs()[0];
}

const Tensor kNumbers = Tensor::map(Tensor::vector(Ints{4, 0, 2}), Tensor::vector(Doubles{1.5, -2.75, 0.25}));

TEST(CastMap, PacksDenselyOrSparsely) {
  const Tensor dense = run_on_map("CastMap", kNumbers, {});
  EXPECT_EQ(dense.shape(), (Shape{1, 3}));
  expect_values(dense, {-2.75, 0.25, 1.5});
  const AttributeList sparse = {{"map_form", std::string("SPARSE")}, {"max_map", int64_t{5}}};
  expect_values(run_on_map("CastMap", kNumbers, sparse), {-2.75, 0, 0.25, 0, 1.5});
  EXPECT_EQ(run_on_map("CastMap", kNumbers, {{"cast_to", std::string("TO_INT64")}}).to_int64(),
            (Ints{-2, 0, 1}));
  EXPECT_EQ(words(run_on_map("CastMap", kNumbers, with(sparse, "cast_to", std::string("TO_STRING")))),
            (Strings{"-2.750000", "0.f", "0.250000", "0.f", "1.500000"}));
  EXPECT_THROW(run_on_map("CastMap", kNumbers, with(sparse, "max_map", int64_t{4})), Error);
  EXPECT_THROW(run_on_map("CastMap", kNumbers, with(sparse, "max_map", int64_t{1} << 60)), Error);
  EXPECT_THROW(run_on_map("CastMap", kNumbers, with(sparse, "max_map", int64_t{0})), Error);
  EXPECT_THROW(run_on_map("CastMap", kNumbers, {{"map_form", std::string("FULL")}}), Error);
  EXPECT_THROW(run_on_map("CastMap", Tensor::vector(Ints{1}), {}), Error);
}

TEST(CastMap, InfersTypeAndLength) {
  const InferResult r = infer_ml("CastMap", 1, {map_type(DType::kInt64, DType::kFloat32)},
                                 {{"map_form", std::string("SPARSE")}, {"max_map", int64_t{5}}});
  EXPECT_EQ(r.str(), "float32[1, 5]");
  EXPECT_THROW(infer_ml("CastMap", 1, {Type::tensor(DType::kInt64)}, {}), Error);
}

TEST(DictVectorizer, LooksKeysUp) {
  const Tensor map = Tensor::map(Tensor::vector(Strings{"c", "q", "a"}), Tensor::vector(Ints{4, 9, 1}));
  const Tensor y = run_on_map("DictVectorizer", map, {{"string_vocabulary", Strings{"a", "b", "c"}}});
  EXPECT_EQ(y.shape(), (Shape{1, 3}));
  EXPECT_EQ(y.to_int64(), (Ints{1, 0, 4}));
  EXPECT_THROW(run_on_map("DictVectorizer", map, {{"int64_vocabulary", Ints{1}}}), Error);
  EXPECT_THROW(run_on_map("DictVectorizer", map, {}), Error);
  EXPECT_EQ(infer_ml("DictVectorizer", 1, {map_type(DType::kString, DType::kInt64)},
                     {{"string_vocabulary", Strings{"a", "b"}}})
                .str(),
            "int64[1, 2]");
}

TEST(ZipMap, MakesAMapOfEveryRow) {
  const Tensor x = Tensor::from<double>({2, 2}, Doubles{0.1, 0.9, 0.6, 0.4});
  const Tensor y = run_ml("ZipMap", 1, {x}, {{"classlabels_strings", Strings{"yes", "no"}}})[0];
  ASSERT_EQ(y.dtype(), DType::kSequence);
  ASSERT_EQ(y.elements().size(), 2u);
  const Tensor& second = y.elements()[1];
  EXPECT_EQ(words(second.elements()[0]), (Strings{"no", "yes"}));
  expect_values(second.elements()[1], {0.4, 0.6});
  EXPECT_THROW(run_ml("ZipMap", 1, {x}, {{"classlabels_int64s", Ints{1, 1}}}), Error);
  EXPECT_THROW(run_ml("ZipMap", 1, {x}, {{"classlabels_int64s", Ints{1, 2, 3}}}), Error);
  EXPECT_THROW(run_ml("ZipMap", 1, {x}, {}), Error);
}

TEST(ZipMap, InfersASequenceOfMaps) {
  const InferResult r = infer_ml("ZipMap", 1, {Type::tensor(DType::kFloat32, Dims{Dim(), Dim(2)})},
                                 {{"classlabels_int64s", Ints{1, 2}}});
  EXPECT_EQ(r.types[0].kind, Type::Kind::kSequence);
  EXPECT_EQ(r.types[0].element->kind, Type::Kind::kMap);
  EXPECT_EQ(r.types[0].element->dtype, DType::kInt64);
}

}  // namespace
}  // namespace assay::ml_test
