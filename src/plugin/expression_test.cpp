#include "plugin/expression.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "assay/error.h"

namespace assay::expression_test {
namespace {

std::string text_of(const ExpressionValue& v) {
  if (const auto* i = v.get_if<int64_t>()) return std::to_string(*i);
  if (const auto* d = v.get_if<double>()) return fmt::format("{}f", *d);
  if (const auto* b = v.get_if<bool>()) return *b ? "true" : "false";
  if (const auto* s = v.get_if<std::string>()) return "'" + *s + "'";
  if (const auto* list = v.get_if<ExpressionValue::List>()) {
    std::string out = "[";
    for (const ExpressionValue& item : *list) out += (out.size() > 1 ? ", " : "") + text_of(item);
    return out + "]";
  }
  return "?";
}

/// A Softmax `s` and a Concat `c` over x [2, 'n', ?] and constants.
class ExpressionTest : public testing::Test, protected ExpressionScope {
 protected:
  ExpressionTest() {
    model_.opsets = {{"", 13}};
    Graph& g = *model_.graph;
    Value* x = g.add_input("x", Type::tensor(DType::kFloat32, Dims{Dim(2), Dim::symbol("n"), Dim()}));
    Value* k = g.add_constant("k", Tensor::vector(std::vector<int64_t>{3, -4}));
    Value* u = g.add_constant("u", Tensor::scalar(uint64_t{1} << 63));
    Value* h = g.add_constant("h", Tensor::scalar(0.5f));
    Value* big = g.add_constant("big", Tensor::zeros(DType::kFloat32, {1025}));
    Value* y = g.add_value("y");
    values_ = {{"x", x}, {"k", k}, {"u", u}, {"h", h}, {"big", big}, {"y", y}, {"none", nullptr}};
    nodes_["s"] = g.add_node("Softmax", {x}, {y});
    nodes_["c"] = g.add_node("Custom", {y}, {g.add_value("z")},
                             {{"f", 1.5f},
                              {"t", std::string("ab")},
                              {"l", std::vector<int64_t>{1, 2}},
                              {"m", Tensor::scalar(true)},
                              {"g", Type()}});
  }
  const Node* node(std::string_view name) const override { return nodes_.at(std::string(name)); }
  const Value* tensor(std::string_view name) const override { return values_.at(std::string(name)); }
  const Model& model() const override { return model_; }

  /// The expression's result, or the message of its Error without the expression's text.
  std::string result(const std::string& text) const {
    try {
      return text_of(Expression(text).evaluate(*this));
    } catch (const Error& e) {
      EXPECT_EQ(e.context(), std::vector<std::string>{"in the expression `" + text + "`"});
      return e.message();
    }
  }

  Model model_;
  std::map<std::string, const Node*> nodes_;
  std::map<std::string, const Value*> values_;
};

TEST_F(ExpressionTest, computes_as_python_does) {
  const std::pair<const char*, const char*> cases[] = {
      {"1 + 2 * 3", "7"},
      {"(1 + 2) * 3", "9"},
      {"7 - 2 - 1", "4"},
      {"-7 // 2", "-4"},
      {"-7 % 2", "1"},
      {"7 % -2", "-1"},
      {"6 // -1", "-6"},
      {"6 % -1", "0"},
      {"1 / 4", "0.25f"},
      {"7.5 // 2", "3f"},
      {"-7.5 % 2", "0.5f"},
      {"2 * 1.5e1", "30f"},
      {"--3", "3"},
      {"1 < 2 and 2 <= 2", "true"},
      {"not 1 == 1.0", "false"},
      {"1 > 2 or 'a' < 'b'", "true"},
      {"'ab' + \"c\"", "'abc'"},
      {"2 in [1, 2]", "true"},
      {"[1, 2.0] == [1.0, 2]", "true"},
      {"'1' == 1", "false"},
      {"[5, 6][-1]", "6"},
      {"[]", "[]"},
      {"len([1, 2])", "2"},
      {"prod([2, 3]) + sum([1, 1])", "8"},
      {"min(3, 1, 2) + max([4, 9])", "10"},
      {"int(2.9)", "2"},
      {"float(2)", "2f"},
      {"sqrt(16)", "4f"},
      {"abs(-3)", "3"},
      {"false and 1 / 0 == 1", "false"},
      {"true or 1", "true"},
      {"9223372036854775807", "9223372036854775807"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(result(text), expected) << text;
}

TEST_F(ExpressionTest, sees_what_was_matched) {
  EXPECT_EQ(result("s.axis"), "-1");  // the default of opset 13
  EXPECT_EQ(result("c.f * 2"), "3f");
  EXPECT_EQ(result("c.t"), "'ab'");
  EXPECT_EQ(result("c.l"), "[1, 2]");
  EXPECT_EQ(result("c.m"), "true");
  EXPECT_EQ(result("has(s.axis) and not has(c.axis)"), "true");
  EXPECT_EQ(result("shape(x)"), "[2, 'n', ?]");
  EXPECT_EQ(result("rank(x)"), "3");
  EXPECT_EQ(result("dtype(x)"), "'float32'");
  EXPECT_EQ(result("value(k)"), "[3, -4]");
  EXPECT_EQ(result("value(h)"), "0.5f");
  EXPECT_EQ(Expression("c.f + shape(x)[0]").nodes(), std::set<std::string>{"c"});
  EXPECT_EQ(Expression("c.f + shape(x)[0]").tensors(), std::set<std::string>{"x"});
}

TEST_F(ExpressionTest, says_what_cannot_be_computed) {
  const std::pair<const char*, const char*> cases[] = {
      {"1 // 0", "// divides by zero"},
      {"1 % 0", "% divides by zero"},
      {"1 / 0", "/ divides by zero"},
      {"9223372036854775807 + 1", "9223372036854775807 + 1 does not fit in 64 bits"},
      {"(-9223372036854775807 - 1) // -1", "-9223372036854775808 // -1 does not fit in 64 bits"},
      {"-(-9223372036854775807 - 1)", "0 - -9223372036854775808 does not fit in 64 bits"},
      {"int(1.0e30)", "the result of int does not fit in 64 bits"},
      {"'a' * 2", "* takes numbers, not text"},
      {"1 and true", "'and' takes true and false, not an integer"},
      {"1 in 2", "'in' looks in a list, not in an integer"},
      {"[1][1]", "the index 1 is beyond a list of 1"},
      {"[1]['a']", "an index needs a list and an integer, not a list and text"},
      {"shape(x)[2] + 1", "+ takes numbers, not an unknown extent"},
      {"shape(x)[2] == 1", "an extent that is not known is compared"},
      {"shape(y)", "the type of 'y' is not known to be a tensor"},
      {"shape(none)", "the tensor 'none' is left out here"},
      {"value(x)", "the tensor 'x' has no known value"},
      {"value(u)", "9223372036854775808 is beyond 63 bits"},
      {"value(big)", "'big' has 1025 elements; values of up to 1024 can be used"},
      {"c.axis", "(Custom) producing 'z' has no attribute 'axis', and its operator no default for it"},
      {"c.g", "the attribute 'g' is neither a number nor text nor a list of such"},
      {"min([])", "min of an empty list"},
      {"sqrt(-1)", "sqrt of -1"},
      {"int(1, 2)", "int takes one number, not 2 values"},
      {"len(3)", "len takes one list"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(result(text), expected) << text;
  EXPECT_THROW(Expression("1").holds(*this), Error);
  EXPECT_TRUE(Expression("rank(x) == 3").holds(*this));
}

TEST_F(ExpressionTest, says_what_cannot_be_read) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "a value is expected at character 1"},
      {"1 +", "a value is expected at character 4"},
      {"(1", "')' is expected at character 3"},
      {"1 2", "'2' is not expected at character 3"},
      {"x", "'x' alone says nothing: write x.ATTRIBUTE for a node, or shape(x) for a tensor; at character 2"},
      {"f(1)", "there is no function 'f'; at character 3"},
      {"'a", "the text that begins has no end at character 1"},
      {"s.", "a name is expected at character 3"},
      {"1a", "a number ends in a letter at character 2"},
      {"99999999999999999999", "the number is out of range, or none at character 1"},
      {"1e999", "the number is out of range, or none at character 1"},
      {"shape(1)", "a name is expected at character 7"},
      {"1 == 1 == 1", "'=' is not expected at character 8"},
      {"$", "'$' is not expected at character 1"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(result(text), expected) << text;
  EXPECT_NE(result(std::string(5000, '(')).find("it nests deeper than 100"), std::string::npos);
  EXPECT_NE(result(std::string(5000, '-') + "1").find("it nests deeper than 100"), std::string::npos);
  std::string sum = "1", indices = "1";
  for (int i = 0; i < 5000; ++i) sum += "+1", indices += "[0]";
  EXPECT_NE(result(sum).find("more than 100 operators"), std::string::npos);
  EXPECT_NE(result(indices).find("more than 100 indices"), std::string::npos);
}

}  // namespace
}  // namespace assay::expression_test
