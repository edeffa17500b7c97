#include "assay/debug.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "assay/error.h"
#include "graph/import.h"
#include "graph/to_text.h"

namespace assay::poly::debug_test {
namespace {

std::shared_ptr<Model> model(const std::string& nodes) {
  return parse_text(
      "<ir_version: 10, opset_import: [\"\" : 21]>\ng (float[2,3] x) => (float[2,3] y) {\n" + nodes + "\n}\n",
      "test");
}

RunData data(float value) {
  return {.source = data_source(
              std::vector<FeedDict>{{{"x", Tensor::from(Shape({2, 3}), std::vector<float>(6, value))}}})};
}

bool has(const Model& m, const std::string& op_type) {
  const auto& nodes = m.graph->nodes();
  return std::any_of(nodes.begin(), nodes.end(), [&](const auto& n) { return n->op_type == op_type; });
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(FindNonFinite, NamesTheCause) {
  const std::shared_ptr<Model> m = model("a = Log (x) y = Neg (a)");
  const std::string found = find_non_finite({.model = m}, data(-1));
  EXPECT_TRUE(contains(found, "\"cause\": \"a\"")) << found;
  EXPECT_TRUE(contains(found, "\"reaches_outputs\": true")) << found;
  EXPECT_FALSE(contains(find_non_finite({.model = m}, data(1)), "\"cause\"")) << found;
  EXPECT_EQ(m->graph->outputs.size(), 1U);  // the model stays as it is
}

TEST(MeasureRanges, OfTheTypesThatAreAskedFor) {
  const std::string found =
      measure_ranges({.model = model("y = Mul (x, x)")}, data(1000), {DType::kFloat16}, false);
  EXPECT_TRUE(contains(found, "\"ranked_by\": \"float16\"")) << found;
  EXPECT_TRUE(contains(found, "\"overflow\": 6")) << found;
  EXPECT_THROW(measure_ranges({.model = model("y = Neg (x)")}, data(1), {}), Error);
  EXPECT_THROW(measure_ranges({.model = model("y = Neg (x)")}, data(1), {DType::kFloat32}), Error);
}

TEST(FindDivergence, OfTwoModels) {
  const std::shared_ptr<Model> first = model("a = Sigmoid (x) y = Neg (a)"),
                               second = model("a = Tanh (x) y = Neg (a)");
  const std::string found = find_divergence({.model = first}, {.model = second}, data(1));
  EXPECT_TRUE(contains(found, "\"first_tensor\": \"a\"")) << found;
  EXPECT_TRUE(contains(find_divergence({.model = first}, {.model = first, .backend = "engine"}, data(1)),
                       "\"divergences\": []"));
  EXPECT_THROW(find_divergence({.model = first}, {.model = second}, data(1), {.atol = -1}), Error);
  EXPECT_THROW(find_divergence({.model = first}, {.model = second}, {.iterations = 0}), Error);
}

TEST(ReduceModel, TheSmallestPartThatFailsInTheSameWay) {
  const std::shared_ptr<Model> whole = model("a = Neg (x) b = Relu (a) c = Abs (b) y = Exp (c)");
  size_t checks = 0;
  const Reduced found = reduce_model(whole, [&](const auto& m) -> std::optional<std::string> {
    ++checks;
    if (!has(*m, "Abs")) return std::nullopt;
    return has(*m, "Relu") ? "both" : "one";
  });
  EXPECT_EQ(found.model->graph->nodes().size(), 2U);
  EXPECT_EQ(found.failure, "both");
  EXPECT_EQ(found.nodes, 4);
  EXPECT_EQ(found.checks, static_cast<int64_t>(checks));
  EXPECT_EQ(whole->graph->nodes().size(), 4U);
}

/// Ends when it has been asked a number of times.
class Slow final : public PendingCheck {
 public:
  Slow(std::optional<std::string> failure, int asked, int& running)
      : failure_(std::move(failure)), left_(asked), running_(running) {
    ++running_;
  }
  ~Slow() override { --running_; }
  bool has_ended() override { return --left_ <= 0; }
  std::optional<std::string> failure() override { return failure_; }

 private:
  std::optional<std::string> failure_;
  int left_;
  int& running_;
};

TEST(ReduceModel, ChecksSideBySideFindTheSame) {
  const std::shared_ptr<Model> whole = model(
      "a = Neg (x) b = Relu (a) c = Abs (b) d = Exp (c) e = Tanh (d) f = Sin (e) g = Cos (f) y = Sigmoid "
      "(g)");
  const auto failure = [](const Model& m) -> std::optional<std::string> {
    if (!has(m, "Abs")) return std::nullopt;
    return has(m, "Sin") ? "both" : "one";
  };
  const Reduced one = reduce_model(whole, [&](const auto& m) { return failure(*m); });
  for (const int jobs : {1, 2, 5})
    for (const int repeat : {1, 3}) {
      int running = 0, most = 0, checks = 0;
      const CheckStart start = [&](const auto& m) {
        auto made = std::make_unique<Slow>(failure(*m), 1 + ++checks % 4, running);
        most = std::max(most, running);
        return made;
      };
      const Reduced found = reduce_model(whole, start, jobs, {.repeat = repeat});
      EXPECT_EQ(to_text(*found.model), to_text(*one.model)) << jobs << " " << repeat;
      EXPECT_EQ(found.failure, "both");
      EXPECT_EQ(running, 0);
      EXPECT_LE(most, jobs);
      EXPECT_TRUE(most > 1 || jobs == 1) << jobs << " " << repeat;
    }
  EXPECT_THROW(reduce_model(whole, CheckStart(), 0), Error);
}

TEST(ReduceModel, ThrowsWhatTheCheckThrows) {
  const auto fails = [](const auto&) -> std::optional<std::string> { throw std::out_of_range("the check"); };
  EXPECT_THROW(reduce_model(model("y = Neg (x)"), fails), std::out_of_range);
  EXPECT_THROW(reduce_model(model("y = Neg (x)"), [](const auto&) { return std::nullopt; }), Error);
}

}  // namespace
}  // namespace assay::poly::debug_test
