// Loop and Scan with subgraphs that a test replaces.
#include <gtest/gtest.h>

#include <functional>

#include "ops/control/stack.h"
#include "ops/op_test_util.h"

namespace assay::control_test {
namespace {

using Ints = std::vector<int64_t>;
using Body = std::function<std::vector<Tensor>(std::vector<Tensor>)>;

class FakeSubgraph : public SubgraphRunner {
 public:
  explicit FakeSubgraph(Body body) : body_(std::move(body)) {}
  std::vector<Tensor> run(const Graph&, std::vector<Tensor> inputs) override {
    return body_(std::move(inputs));
  }

 private:
  Body body_;
};

/// A subgraph of which only the number and types of the outputs matter.
std::shared_ptr<Graph> graph_of(const std::vector<Type>& outputs) {
  auto g = std::make_shared<Graph>();
  for (size_t i = 0; i < outputs.size(); ++i)
    g->outputs.push_back(g->add_value("out" + std::to_string(i), outputs[i]));
  return g;
}

std::vector<Tensor> run(const char* op, int opset, std::vector<Tensor> inputs, AttributeList attributes,
                        size_t outputs, Body body) {
  std::vector<bool> present;
  for (const Tensor& t : inputs) present.push_back(t.defined());
  const OpTestNode n(op, opset, present, std::move(attributes), outputs, "");
  FakeSubgraph subgraph(std::move(body));
  EvalContext c(n.node(), n.op(), n.version(), std::move(inputs), &subgraph);
  n.version().eval(c);
  return std::move(c.outputs());
}

Tensor number(int64_t v) { return Tensor::scalar(v); }
Tensor truth(bool v) { return Tensor::scalar(v); }
const Type kInt = Type::tensor(DType::kInt64, Dims()), kBool = Type::tensor(DType::kBool, Dims());

/// Carries a sum of the iteration numbers, gives the number back, and stops asking at `stop`.
Body counting(int64_t stop) {
  return [stop](std::vector<Tensor> in) -> std::vector<Tensor> {
    const int64_t i = in[0].item<int64_t>();
    return {truth(i + 1 < stop), number(in[2].item<int64_t>() + i), number(i)};
  };
}

AttributeList loop_body() { return {{"body", graph_of({kBool, kInt, kInt})}}; }

TEST(Loop, StopsByCountOrCondition) {
  const auto by_count = run("Loop", 13, {number(3), Tensor(), number(10)}, loop_body(), 2, counting(1));
  EXPECT_EQ(by_count[0].item<int64_t>(), 13) << "without cond the body's condition is ignored";
  EXPECT_EQ(by_count[1].to_int64(), (Ints{0, 1, 2}));
  const auto by_condition = run("Loop", 13, {Tensor(), truth(true), number(0)}, loop_body(), 2, counting(4));
  EXPECT_EQ(by_condition[1].to_int64(), (Ints{0, 1, 2, 3}));
  const auto by_both = run("Loop", 13, {number(2), truth(true), number(0)}, loop_body(), 2, counting(4));
  EXPECT_EQ(by_both[1].to_int64(), (Ints{0, 1}));
}

TEST(Loop, WithoutIterationsGivesItsInputsAndEmptyStacks) {
  for (const Tensor& cond : {truth(false), truth(true)}) {
    const auto y =
        run("Loop", 13, {number(cond.item<bool>() ? 0 : 5), cond, number(7)}, loop_body(), 2, counting(9));
    EXPECT_EQ(y[0].item<int64_t>(), 7);
    EXPECT_EQ(y[1].shape(), Shape{0});
    EXPECT_EQ(y[1].dtype(), DType::kInt64);
  }
}

TEST(Loop, RefusesWhatCannotEndOrFit) {
  EXPECT_THROW(run("Loop", 13, {Tensor(), Tensor(), number(0)}, loop_body(), 2, counting(1)), Error);
  EXPECT_THROW(
      run("Loop", 13, {number(1), Tensor(), number(0)}, {{"body", graph_of({kBool})}}, 2, counting(1)),
      Error);
  const Body growing = [](std::vector<Tensor> in) -> std::vector<Tensor> {
    return {truth(true), in[2], Tensor::zeros(DType::kInt64, {in[0].item<int64_t>()})};
  };
  EXPECT_THROW(run("Loop", 13, {number(2), Tensor(), number(0)}, loop_body(), 2, growing), Error);
}

/// State: the running sum. Output: the sum so far.
std::vector<Tensor> summing(std::vector<Tensor> in) {
  const Tensor sum = number(in[0].item<int64_t>() + in[1].item<int64_t>());
  return {sum, sum};
}

AttributeList scan_body(AttributeList more = {}) {
  more.emplace_back("body", graph_of({kInt, kInt}));
  more.emplace_back("num_scan_inputs", int64_t{1});
  return more;
}

TEST(Scan, RunsForwardsAndBackwards) {
  const Tensor x = Tensor::vector<int64_t>({1, 2, 3});
  const auto forwards = run("Scan", 9, {number(0), x}, scan_body(), 2, summing);
  EXPECT_EQ(forwards[0].item<int64_t>(), 6);
  EXPECT_EQ(forwards[1].to_int64(), (Ints{1, 3, 6}));
  const auto backwards =
      run("Scan", 9, {number(0), x}, scan_body({{"scan_input_directions", Ints{1}}}), 2, summing);
  EXPECT_EQ(backwards[1].to_int64(), (Ints{3, 5, 6}));
  const auto prepended =
      run("Scan", 9, {number(0), x}, scan_body({{"scan_output_directions", Ints{1}}}), 2, summing);
  EXPECT_EQ(prepended[1].to_int64(), (Ints{6, 3, 1}));
}

TEST(Scan, EntriesAlongAnyAxisAreTheSame) {
  // Each step sees one entry of [2, 3], whose elements come in the order of the axes that are left.
  std::vector<Ints> seen;
  const Body looking = [&](std::vector<Tensor> in) -> std::vector<Tensor> {
    EXPECT_EQ(in[1].shape(), (Shape{2, 3}));
    seen.push_back(in[1].to_int64());
    return {in[0], in[1]};
  };
  const auto entry = [](int64_t row, int64_t column, int64_t step) { return 100 * row + 10 * column + step; };
  for (const int64_t axis : {0, 1, 2, -1}) {
    Tensor x = Tensor::zeros(DType::kInt64, axis == 0   ? Shape{4, 2, 3}
                                            : axis == 1 ? Shape{2, 4, 3}
                                                        : Shape{2, 3, 4});
    for (int64_t r = 0; r < 2; ++r)
      for (int64_t c = 0; c < 3; ++c)
        for (int64_t t = 0; t < 4; ++t) {
          const int64_t at = axis == 0   ? (t * 2 + r) * 3 + c
                             : axis == 1 ? (r * 4 + t) * 3 + c
                                         : (r * 3 + c) * 4 + t;
          x.mutable_data<int64_t>()[at] = entry(r, c, t);
        }
    seen.clear();
    const auto y = run("Scan", 9, {number(0), x}, scan_body({{"scan_input_axes", Ints{axis}}}), 2, looking);
    ASSERT_EQ(seen.size(), 4U);
    for (int64_t t = 0; t < 4; ++t)
      EXPECT_EQ(seen[static_cast<size_t>(t)], (Ints{entry(0, 0, t), entry(0, 1, t), entry(0, 2, t),
                                                    entry(1, 0, t), entry(1, 1, t), entry(1, 2, t)}))
          << axis;
    EXPECT_EQ(y[1].shape(), (Shape{4, 2, 3}));
  }
}

TEST(Scan, BeforeOpset9TakesABatchWithLengths) {
  const Tensor x = Tensor::from<int64_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto y = run("Scan", 8, {Tensor::vector<int64_t>({3, 1}), Tensor::vector<int64_t>({0, 10}), x},
                     scan_body(), 2, summing);
  EXPECT_EQ(y[0].to_int64(), (Ints{6, 14}));
  EXPECT_EQ(y[1].to_int64(), (Ints{1, 3, 6, 14, 0, 0}));
}

TEST(Scan, RefusesWhatDoesNotMatch) {
  const Tensor x = Tensor::vector<int64_t>({1});
  EXPECT_THROW(run("Scan", 9, {number(0), x}, scan_body({{"scan_input_axes", Ints{1}}}), 2, summing), Error);
  EXPECT_THROW(run("Scan", 9, {number(0), x}, scan_body({{"scan_input_directions", Ints{2}}}), 2, summing),
               Error);
  EXPECT_THROW(run("Scan", 9, {number(0), x}, scan_body({{"scan_output_axes", Ints{2}}}), 2, summing), Error);
  EXPECT_THROW(run("Scan", 9, {number(0), x},
                   {{"body", graph_of({kInt, kInt})}, {"num_scan_inputs", int64_t{3}}}, 2, summing),
               Error);
  EXPECT_THROW(
      run("Scan", 8,
          {Tensor::vector<int64_t>({2}), Tensor::vector<int64_t>({0}), Tensor::from<int64_t>({1, 1}, {1})},
          scan_body(), 2, summing),
      Error);
}

TEST(Stack, PutsEntriesAlongAnyAxis) {
  Stack stack{Type()};
  stack.push(Tensor::vector<int64_t>({1, 2}));
  stack.push(Tensor::vector<int64_t>({3, 4}));
  EXPECT_EQ(stack.joined(-1).to_int64(), (Ints{1, 3, 2, 4}));
  EXPECT_EQ(stack.joined(0, true).to_int64(), (Ints{3, 4, 1, 2}));
  EXPECT_THROW(Stack{Type()}.joined(), Error);
}

TEST(Stack, RefusesContainers) {
  Stack stack{Type()};
  EXPECT_THROW(stack.push(Tensor::sequence({})), Error);
}

TEST(Loop, CarriesSequences) {
  const Body appending = [](std::vector<Tensor> in) -> std::vector<Tensor> {
    const auto old = in[2].elements();
    std::vector<Tensor> elements(old.begin(), old.end());
    elements.push_back(in[0]);
    return {truth(true), Tensor::sequence(std::move(elements))};
  };
  const Type type = sequence_of(kInt);
  const auto y = run("Loop", 13, {number(3), Tensor(), Tensor::sequence({})},
                     {{"body", graph_of({kBool, type})}}, 1, appending);
  ASSERT_EQ(y[0].numel(), 3);
  EXPECT_EQ(y[0].elements()[2].item<int64_t>(), 2);
  const Body scanning = [](std::vector<Tensor>) -> std::vector<Tensor> {
    return {truth(true), Tensor::sequence({})};
  };
  EXPECT_THROW(run("Loop", 13, {number(1), Tensor()}, {{"body", graph_of({kBool, type})}}, 1, scanning),
               Error)
      << "sequences do not stack up";
}

TEST(SequenceMap, RunsTheBodyForEachElement) {
  const Tensor xs = Tensor::sequence({number(1), number(2), number(3)});
  const Tensor ys = Tensor::sequence({number(10), number(20), number(30)});
  const Body body = [](std::vector<Tensor> in) -> std::vector<Tensor> {
    return {number(in[0].item<int64_t>() + in[1].item<int64_t>() + in[2].item<int64_t>()), in[0]};
  };
  const auto out = run("SequenceMap", 17, {xs, ys, number(100)}, {{"body", graph_of({kInt, kInt})}}, 2, body);
  ASSERT_EQ(out[0].numel(), 3);
  EXPECT_EQ(out[0].elements()[2].item<int64_t>(), 133);
  EXPECT_TRUE(out[1].identical(xs));
  const auto none = run("SequenceMap", 17, {Tensor::sequence({})}, {{"body", graph_of({kInt})}}, 1,
                        [](std::vector<Tensor>) {
                          ADD_FAILURE() << "there is no element to run it for";
                          return std::vector<Tensor>();
                        });
  EXPECT_EQ(none[0].numel(), 0);
}

TEST(SequenceMap, RefusesWhatDoesNotMatch) {
  const Tensor xs = Tensor::sequence({number(1), number(2)});
  const Body same = [](std::vector<Tensor> in) -> std::vector<Tensor> { return {in[0]}; };
  const AttributeList body = {{"body", graph_of({kInt})}};
  EXPECT_THROW(run("SequenceMap", 17, {number(1)}, body, 1, same), Error);
  EXPECT_THROW(run("SequenceMap", 17, {xs, Tensor::sequence({number(1)})}, body, 1, same), Error);
  EXPECT_THROW(run("SequenceMap", 17, {xs}, body, 2, same), Error);
  EXPECT_THROW(run("SequenceMap", 17, {Tensor::sequence({xs})}, body, 1, same), Error)
      << "what it gives would be a sequence of sequences";
  const Body changing = [](std::vector<Tensor> in) -> std::vector<Tensor> {
    return {in[0].item<int64_t>() == 1 ? in[0] : truth(true)};
  };
  EXPECT_THROW(run("SequenceMap", 17, {xs}, body, 1, changing), Error);
}

}  // namespace
}  // namespace assay::control_test
