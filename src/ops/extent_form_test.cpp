#include "ops/extent_form.h"

#include <gtest/gtest.h>

#include <map>

#include "assay/count.h"
#include "ops/infer.h"
#include "ops/infer_util.h"
#include "ops/math/extent_math.h"

namespace assay::extent_form_test {
namespace {

std::string form(std::string_view text) {
  const std::optional<ExtentForm> form = ExtentForm::read(text);
  return form ? form->str() : "none";
}

TEST(ExtentForm, EqualExpressionsHaveOneForm) {
  EXPECT_EQ(form("(((batch*64)*7)*7)/3136"), "batch");
  EXPECT_EQ(form("2*h+3*h"), "5*h");
  EXPECT_EQ(form("w*h"), form("h*w"));
  EXPECT_EQ(form("(n+1)*(n-1)"), "n*n-1");
  EXPECT_EQ(form("n-1+1"), "n");
  EXPECT_EQ(form("n-n"), "0");
  EXPECT_EQ(form("past_length + 1"), "past_length+1");
}

TEST(ExtentForm, QuotientsAreRoundedDown) {
  EXPECT_EQ(form("(2*h+1)/2"), "h");
  EXPECT_EQ(form("(h*2-1)/2"), "h-1");
  EXPECT_EQ(form("(h-1)/2+1"), "(h+1)/2");
  EXPECT_EQ(form("(h+1)/2"), "(h+1)/2");
  EXPECT_EQ(form("(h*4+6)/8"), "(h+1)/2");
  EXPECT_EQ(form("(h*6+5)/4"), "(3*h)/2+1");
  EXPECT_EQ(form("h/2/3"), "h/6");
  EXPECT_EQ(form("(h/2+1)/3"), "(h+2)/6");
  EXPECT_EQ(form("2*(h/2)"), "2*(h/2)");
}

TEST(ExtentForm, WhatMayBeNegativeIsRoundedTowardZero) {
  EXPECT_EQ(form("(h-3)/2+1"), "(h-3)/2+1") << "h may be 2";
  EXPECT_EQ(form("(a-b+20)/2"), "(a+20-b)/2");
  EXPECT_EQ(form("(a*2-b*4)/2"), "a-2*b");
  EXPECT_EQ(form("(a*2-b*4)/4"), "(a-2*b)/2");
}

TEST(ExtentForm, SymbolsCancelWhereAllTermsHaveThem) {
  EXPECT_EQ(form("(batch*heads*64)/(batch*heads)"), "64");
  EXPECT_EQ(form("(a*b+a*c*2)/a"), "b+2*c");
  EXPECT_EQ(form("(a*b*4)/(b*2)"), "2*a");
  EXPECT_EQ(form("(a+1)/a"), "(a+1)/a");
  EXPECT_EQ(form("((h/2)*w)/(h/2)"), "(w*(h/2))/(h/2)") << "h/2 may be 0";
  EXPECT_EQ(form("a/(b-1)"), "none");
}

TEST(ExtentForm, ReadsNoOtherTexts) {
  for (const char* text : {"", "floor(h/2)", "a b(", "(a", "a+", "*a", "a/0", "99999999999999999999", "a**b"})
    EXPECT_EQ(form(text), "none") << text;
  EXPECT_EQ(form(std::string(1000, '(')), "none");
  EXPECT_EQ(form("9223372036854775807*2"), "none");
}

/// The form that a text stands for.
int64_t value(const ExtentForm& f, const std::map<std::string, int64_t>& symbols);

int64_t value_of_factor(const std::string& text, const std::map<std::string, int64_t>& symbols) {
  const size_t stroke = text.rfind('/');
  if (stroke == std::string::npos) return symbols.at(text);
  return value(*ExtentForm::read(text.substr(0, stroke)), symbols) / std::stoll(text.substr(stroke + 1));
}

int64_t value(const ExtentForm& f, const std::map<std::string, int64_t>& symbols) {
  int64_t sum = 0;
  for (const auto& [factors, coefficient] : f.terms()) {
    int64_t product = coefficient;
    for (const std::string& factor : factors) product *= value_of_factor(factor, symbols);
    sum += product;
  }
  return sum;
}

TEST(ExtentForm, StandsForTheSameNumbersAsTheSteps) {
  uint64_t state = 5;
  const auto below = [&](uint64_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int64_t>((state >> 33) % n);
  };
  for (int round = 0; round < 20000; ++round) {
    const std::map<std::string, int64_t> symbols = {{"a", 1 + below(9)}, {"b", 1 + below(9)}};
    ExtentForm f = ExtentForm::factor("a");
    int64_t number = symbols.at("a");
    for (int step = 0; step < 6; ++step) {
      const bool is_symbol = below(2) == 0;
      const int64_t k = is_symbol ? symbols.at("b") : 1 + below(8);
      const ExtentForm other = is_symbol ? ExtentForm::factor("b") : ExtentForm(k);
      const int64_t kind = below(4);
      // Quotients by numbers alone have a value here, and negative numbers are no extents.
      if (kind == 3 && (is_symbol || number < 0)) continue;
      if (kind == 1 && number < k) continue;
      const std::optional<ExtentForm> next = kind == 0   ? sum(f, other)
                                             : kind == 1 ? sum(f, other, -1)
                                             : kind == 2 ? product(f, other)
                                                         : quotient(f, other);
      ASSERT_TRUE(next);
      f = *next;
      number = kind == 0 ? number + k : kind == 1 ? number - k : kind == 2 ? number * k : number / k;
      ASSERT_EQ(value(f, symbols), number) << f.str();
      ASSERT_EQ(ExtentForm::read(f.str()), f) << f.str();
    }
  }
}

TEST(DimArithmetic, GivesTheForm) {
  const Dim n = Dim::symbol("n"), odd = Dim::symbol("floor(n/3)");
  EXPECT_EQ(dim_floor_div(dim_mul(dim_mul(n, Dim(64)), Dim(49)), Dim(3136)).str(), "n");
  EXPECT_EQ(dim_sub(dim_add(n, Dim(5)), n), Dim(5));
  EXPECT_EQ(dim_mul(odd, Dim(2)).str(), "2*(floor(n/3))");
  EXPECT_FALSE(dim_sub(Dim(1), dim_add(n, Dim(3))).is_known());
}

/// A model whose inputs have these extents.
std::shared_ptr<Model> model_of(const Dims& extents) {
  auto model = std::make_shared<Model>();
  model->graph->add_input("x", Type::tensor(DType::kFloat32, extents));
  return model;
}

TEST(ExtentNames, AreNoArithmetic) {
  const Dim length = Dim::symbol("seq-len"), half = Dim::symbol("n/2"), odd = Dim::symbol("floor(k/2)");
  const ExtentNames names(*model_of({Dim::symbol("n"), length, half, odd, Dim::symbol("seq-len-2")}));
  EXPECT_EQ(dim_mul(dim_add(length, Dim(2)), Dim(3)).str(), "3*(seq-len)+6");
  EXPECT_EQ(form("3*(seq-len)+6-seq-len*2"), "(seq-len)+6");
  EXPECT_EQ(form("seq-len-2+2*seq-len"), "2*(seq-len)+(seq-len-2)");
  EXPECT_EQ(dim_floor_div(dim_mul(length, Dim(6)), Dim(4)).str(), "(3*(seq-len))/2");
  EXPECT_EQ(form("n/2*2"), "2*(n/2)") << "all in it is declared by itself: arithmetic";
  EXPECT_EQ(form("floor(k/2)+floor(k/2)"), "2*(floor(k/2))");
  EXPECT_TRUE(is_not_negative(length));
  EXPECT_FALSE(is_not_negative(Dim::symbol("seq-size")));
  EXPECT_EQ((Count(2) * Count::of(length)).str(), "2*(seq-len)");
}

TEST(ExtentNames, HoldWhileTheyLive) {
  {
    const ExtentNames outer(*model_of({Dim::symbol("a-b")}));
    const ExtentNames inner(*model_of({Dim::symbol("c-d")}));
    EXPECT_EQ(form("d+c-d"), "(c-d)+d");
    EXPECT_EQ(form("b+a-b"), "a");
  }
  EXPECT_EQ(form("d+c-d"), "c");
}

TEST(ExtentNames, OfAModelGoThroughItsInference) {
  const auto model =
      model_of({Dim::symbol("batch"), Dim::symbol("seq-len"), Dim::symbol("past"), Dim::symbol("past + 1")});
  Graph& g = *model->graph;
  model->opsets = {{"", 17}};
  const auto of = [&](const char* op, std::vector<Value*> inputs, AttributeList attributes = {}) {
    Value* y = g.add_value(g.unique_name(op));
    g.add_node(op, std::move(inputs), {y}, std::move(attributes));
    return y;
  };
  Value* x = g.inputs[0];
  Value* twice = of("Concat", {x, x}, {{"axis", int64_t{1}}});
  Value* more = of("Concat", {x, x}, {{"axis", int64_t{3}}});
  g.outputs = {twice, more};
  infer_shapes(*model);
  EXPECT_EQ(twice->type.str(), "float32[batch, 2*(seq-len), past, past + 1]");
  EXPECT_EQ(more->type.str(), "float32[batch, seq-len, past, 2*past+2]");
}

TEST(Counts, AddWhatIsWrittenInSeveralWays) {
  EXPECT_EQ((Count(3) * Count::of(Dim::symbol("(batch*64)/64")) + Count::of(Dim::symbol("batch"))).str(),
            "4*batch");
  EXPECT_EQ(Count::elements(Dims{Dim::symbol("h/2"), Dim::symbol("w*3")}).str(), "3*(h/2)*w");
  EXPECT_EQ(Count::of(Dim::symbol("n-1")).str(), "(n-1)");
}

}  // namespace
}  // namespace assay::extent_form_test
