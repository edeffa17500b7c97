#include "bench/shapes.h"

#include <gtest/gtest.h>

#include "assay/error.h"

namespace assay::bench::shapes_test {
namespace {

using Words = std::vector<std::string>;

template <typename F>
std::string message_of(F body) {
  try {
    body();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

const TensorInfo kImage{"x:0", Type::tensor(DType::kFloat32, Dims{Dim::symbol("n"), Dim(3)})};
const TensorInfo kIds{"ids", Type::tensor(DType::kInt64, Dims{Dim::symbol("n"), Dim::symbol("length")})};
const TensorInfo kTarget{"target", Type::tensor(DType::kInt64, Dims{Dim(2)})};
const TensorInfo kFixed{"w", Type::tensor(DType::kFloat32, Dims{Dim(4), Dim(5)})};

TEST(Shapes, ListsAreSplitOutsideOfBracketsAndQuotes) {
  EXPECT_EQ(split_list("a:1x2,b:[3,4],'c,d':5"), (Words{"a:1x2", "b:[3,4]", "'c,d':5"}));
  EXPECT_EQ(split_list(""), Words{""});
  EXPECT_EQ(split_list("\na:1x2, b:[3, 4] ,' c ':5 "), (Words{"a:1x2", "b:[3, 4]", "' c ':5"}));
  EXPECT_EQ(split_list(" , "), (Words{"", ""}));
}

TEST(Shapes, NamesMayHoldColonsAndBothSpellingsAreRead) {
  const ShapeSet expected = {{"x:0", {4, 1, 28, 28}}, {"y", {}}, {"z,1", {7}}};
  EXPECT_EQ(parse_shape_set("--shapes", {"x:0:4x1x28x28,y:scalar,'z,1':7"}), expected);
  EXPECT_EQ(parse_shape_set("--shapes", {"x:0:[4, 1, 28, 28]", "y:[]", "'z,1':[7]"}), expected);
}

TEST(Shapes, AnInputNamedAgainBeginsTheNextSet) {
  const auto sets = parse_shape_sets("--shapes", {"x:1x3,y:2", "x:4x3", "x:8x3,y:9"});
  ASSERT_EQ(sets.size(), 3U);
  EXPECT_EQ(sets[0], (ShapeSet{{"x", {1, 3}}, {"y", {2}}}));
  EXPECT_EQ(sets[1], (ShapeSet{{"x", {4, 3}}}));
  EXPECT_EQ(sets[2], (ShapeSet{{"x", {8, 3}}, {"y", {9}}}));
  EXPECT_EQ(message_of([] { parse_shape_set("--min-shapes", {"x:1,x:2"}); }),
            "--min-shapes: the input 'x' is named twice");
}

TEST(Shapes, WhatIsNoShapeIsRefused) {
  for (const char* text :
       {"x", "x:1x", "x:1xa", ":1x2", "x:1,5", "x:[1;2]", "x:1.5", "x:99999999999999999999", ""})
    EXPECT_NE(message_of([&] { parse_shape_sets("--shapes", {text}); }).find("--shapes: could not parse"),
              std::string::npos)
        << text;
}

TEST(Profiles, MissingBoundsAreThoseNextToThem) {
  std::vector<std::string> warnings;
  const auto bounds = [&](const ProfileShapes& given) {
    const auto profiles = make_profiles({kImage}, {given}, {}, warnings);
    const auto* range = profiles.at(0).find("x:0");
    return extents_text(range->min) + " " + extents_text(range->opt) + " " + extents_text(range->max);
  };
  EXPECT_EQ(bounds({.min = {{"x:0", {1, 3}}}, .opt = {{"x:0", {2, 3}}}, .max = {{"x:0", {4, 3}}}}),
            "1x3 2x3 4x3");
  EXPECT_EQ(bounds({.min = {}, .opt = {{"x:0", {2, 3}}}, .max = {{"x:0", {4, 3}}}}), "2x3 2x3 4x3");
  EXPECT_EQ(bounds({.min = {{"x:0", {1, 3}}}, .opt = {}, .max = {{"x:0", {4, 3}}}}), "1x3 4x3 4x3");
  EXPECT_EQ(bounds({.min = {{"x:0", {1, 3}}}, .opt = {}, .max = {}}), "1x3 1x3 1x3");
  EXPECT_TRUE(warnings.empty());
}

TEST(Profiles, RunsAloneMakeOneThatHoldsThemAll) {
  std::vector<std::string> warnings;
  const auto profiles = make_profiles({kImage, kFixed}, {},
                                      {{{"x:0", {4, 3}}}, {{"x:0", {1, 3}}}, {{"x:0", {9, 3}}}}, warnings);
  ASSERT_EQ(profiles.size(), 1U);
  const auto* range = profiles[0].find("x:0");
  EXPECT_EQ(range->min, (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(range->opt, (std::vector<int64_t>{4, 3}));
  EXPECT_EQ(range->max, (std::vector<int64_t>{9, 3}));
  EXPECT_EQ(profiles[0].find("w"), nullptr);
}

TEST(Profiles, OpenExtentsBecomeOneWithAWarning) {
  std::vector<std::string> warnings;
  const auto profiles = make_profiles({kImage, kIds}, {}, {{{"ids", {2, 8}}}}, warnings);
  ASSERT_EQ(profiles.size(), 1U);
  EXPECT_EQ(profiles[0].find("x:0")->max, (std::vector<int64_t>{1, 3}));
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("'x:0' has open extents and no shape was given for it; it becomes 1x3"),
            std::string::npos);
}

TEST(Profiles, NumbersForAShapeTensorAreItsElements) {
  std::vector<std::string> warnings;
  const auto profiles =
      make_profiles({kTarget}, {{.min = {{"target", {1, -1}}}, .max = {{"target", {8, 3}}}}}, {}, warnings);
  ASSERT_EQ(profiles.size(), 1U);
  EXPECT_TRUE(profiles[0].find("target")->holds_values);
  EXPECT_EQ(make_cases({kTarget}, {}, profiles.data())[0].elements, (std::vector<int64_t>{8, 3}));
  EXPECT_EQ(make_cases({kTarget}, {{"target", {2, 2}}}, profiles.data())[0].elements,
            (std::vector<int64_t>{2, 2}));
  // The numbers equal its declared shape.
  EXPECT_TRUE(make_profiles({kTarget}, {}, {{{"target", {2}}}}, warnings).empty());
  EXPECT_NE(message_of([&] {
              make_profiles({kTarget}, {}, {{{"target", {1, 2, 3}}}}, warnings);
            }).find("holds 2 elements, not 3: 1x2x3"),
            std::string::npos);
}

TEST(Profiles, WhatContradictsTheModelIsRefused) {
  std::vector<std::string> warnings;
  const auto refused = [&](const ShapeSet& run) {
    return message_of([&] { make_profiles({kImage, kFixed}, {}, {run}, warnings); });
  };
  EXPECT_EQ(refused({{"w", {4, 6}}}), "the input 'w' of shape (4, 5) cannot have the shape 4x6");
  EXPECT_EQ(refused({{"x:0", {1, 3, 1}}}), "the input 'x:0' of shape ('n', 3) cannot have the shape 1x3x1");
  EXPECT_EQ(refused({{"x:0", {-1, 3}}}), "the input 'x:0' cannot have the extent -1");
  const std::string unknown = refused({{"x:1", {1, 3}}});
  EXPECT_NE(unknown.find("'x:1', which is not an input of the model; its inputs are: x:0, w"),
            std::string::npos)
      << unknown;
  EXPECT_EQ(refused({{"w", {4, 5}}}), "no error");
}

TEST(Cases, TheRunComesFirstThenTheProfileThenTheModel) {
  OptimizationProfile profile;
  profile.set_shape("x:0", {1, 3}, {2, 3}, {4, 3});
  EXPECT_EQ(cases_text(make_cases({kImage, kFixed}, {{"x:0", {4, 3}}}, &profile)), "x:0:4x3, w:4x5");
  EXPECT_EQ(cases_text(make_cases({kImage, kFixed}, {}, &profile)), "x:0:2x3, w:4x5");
  EXPECT_EQ(cases_text(make_cases({kImage, kFixed}, {}, nullptr)), "x:0:1x3, w:4x5");
}

}  // namespace
}  // namespace assay::bench::shapes_test
