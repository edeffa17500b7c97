// Operators as loops and scans: every length, none included.
#include "convert/convert_test_util.h"

namespace assay::loops_test {
namespace {

std::vector<std::string> operators(const Model& model) {
  std::vector<std::string> found;
  for (const auto& n : model.graph->nodes()) found.push_back(n->op_type);
  return found;
}

template <typename T>
OneNode range(T start, T limit, T delta) {
  return {"Range", 11, {Tensor::scalar(start), Tensor::scalar(limit), Tensor::scalar(delta)}};
}

TEST(LoopExpansion, Range) {
  for (const int64_t to : {10, 8, 7}) {
    expect_same(range<int64_t>(3, 9, 3), to);
    expect_same(range<int64_t>(3, 10, 3), to);
    expect_same(range<int64_t>(10, 4, -2), to);
    expect_same(range<int64_t>(10, 3, -2), to);
    expect_same(range<int64_t>(4, 10, -2), to);
    expect_same(range<int64_t>(4, 4, 1), to);
    expect_same(range<int16_t>(1, 5, 2), to);
    expect_same(range<int32_t>(-7, 5, 5), to);
    expect_same(range<float>(1, 2, 0.3F), to);
    expect_same(range<float>(0, 1, 0.1F), to);
    expect_same(range<double>(2, -1, -0.5), to);
    expect_same(range<float>(1, 0, 1), to);
  }
  // Distances that no double holds.
  constexpr int64_t kBig = int64_t{1} << 60;
  expect_same(range<int64_t>(0, kBig + 1, kBig / 4), 10);
  expect_same(range<int64_t>(0, -kBig, -kBig / 4), 10);
  const Tensor one = int64s({1});
  expect_same({"Range", 11, {int64s({0}), int64s({4}), one}}, 10);
  const OneNode fixed_range(
      "Range", 11, {fixed(Tensor::scalar(2.0F)), fixed(Tensor::scalar(5.0F)), fixed(Tensor::scalar(1.0F))});
  expect_same(fixed_range, 7, {"Identity"});
}

TEST(LoopExpansion, RunningSumsAndProducts) {
  Tensor x = mixed({3, 4, 2});
  x.mutable_data<float>()[0] = -0.0F;
  x.mutable_data<float>()[9] = INFINITY;
  for (const int64_t axis : {-3, 0, 1, 2})
    for (const int64_t exclusive : {0, 1})
      for (const int64_t reverse : {0, 1}) {
        const AttributeList how = {{"exclusive", exclusive}, {"reverse", reverse}};
        const TestInput at = fixed(Tensor::scalar(axis));
        expect_same({"CumSum", 14, {x, at}, how}, 10);
        expect_same(
            with_open_axes({"CumSum", 11, {convert(mixed({3, 4, 2}), DType::kInt64), at}, how}, 0, {0, 1}),
            9);
        expect_same({"CumProd", 26, {x, at}, how}, 13);
        expect_same({"CumProd", 26, {Tensor::zeros(DType::kFloat32, {2, 0, 3}), at}, how}, 11);
      }
  // Of one axis there is no choice.
  expect_same({"CumSum", 11, {floats({1, 2, 3}), int64s({0})}}, 10);
  EXPECT_NE(refusal({"CumSum", 11, {mixed({2, 2}), int64s({0})}}, 10).find("'axis' is not constant"),
            std::string::npos);
}

/// body(a, b) -> a + b, b; in the names of the model around it, too.
std::shared_ptr<Model> mapped(bool second_is_sequence, bool gives_input) {
  auto model = std::make_shared<Model>();
  model->opsets = {{"", 17}};
  Graph& g = *model->graph;
  Value* a = g.add_input("a", Type::tensor(DType::kFloat32, Shape{2, 2}));
  Value* b = g.add_input("b", Type::tensor(DType::kFloat32, Shape{2}));
  auto body = std::make_shared<Graph>();
  body->name = "body";
  body->set_parent(&g);
  Value* x = body->add_input("x", Type::tensor(DType::kFloat32));
  Value* y = body->add_input("y", Type::tensor(DType::kFloat32));
  Value *sum = body->add_value("sum"), *moved = body->add_value("moved");
  body->add_node("Add", {x, y}, {sum});
  body->add_node("Mul", {sum, b}, {moved});
  body->outputs = {moved, gives_input ? y : sum};
  Value *rows = g.add_value("rows"), *left = g.add_value("left"), *right = g.add_value("right");
  g.add_node("SplitToSequence", {a}, {rows}, {{"axis", int64_t{0}}, {"keepdims", int64_t{0}}});
  g.add_node("SequenceMap", {rows, second_is_sequence ? rows : b}, {left, right}, {{"body", body}}, "map");
  Value *l = g.add_value("l"), *r = g.add_value("r");
  g.add_node("ConcatFromSequence", {left}, {l}, {{"axis", int64_t{0}}, {"new_axis", int64_t{1}}});
  g.add_node("ConcatFromSequence", {right}, {r}, {{"axis", int64_t{0}}, {"new_axis", int64_t{1}}});
  g.outputs = {l, r};
  infer_shapes(*model);
  return model;
}

TEST(LoopExpansion, SequenceMap) {
  for (const bool is_sequence : {false, true})
    for (const bool gives_input : {false, true})
      for (const int64_t to : {16, 13}) {
        const std::shared_ptr<Model> model = mapped(is_sequence, gives_input);
        const std::shared_ptr<Model> after = converted(*model, to);
        const std::vector<Tensor> feed = {mixed({2, 2}), floats({3, 4})};
        expect_same_outputs(evaluate(model, feed), evaluate(after, feed), 0);
        const std::vector<std::string> ops = operators(*after);
        EXPECT_NE(std::find(ops.begin(), ops.end(), "Loop"), ops.end());
      }
  const std::shared_ptr<Model> model = mapped(false, false);
  const ConvertReport report = convert_opset(*model, {.version = 12});
  ASSERT_FALSE(report.problems.empty());
  EXPECT_NE(report.problems[0].reason.find("seq(float32)"), std::string::npos) << report.problems[0].reason;
}

TEST(LoopExpansion, LinearAttention) {
  const Tensor q = mixed({2, 3, 8}), k = mixed({2, 3, 4}), v = counted({2, 3, 6});
  const AttributeList heads = {{"q_num_heads", int64_t{4}}, {"kv_num_heads", int64_t{2}}};
  const auto rule = [&](const char* name) {
    AttributeList list = heads;
    list.emplace_back("update_rule", std::string(name));
    return list;
  };
  const Tensor past = mixed({2, 2, 2, 3}), decay = mixed({2, 3, 4}), by_head = mixed({2, 3, 2}),
               beta = mixed({2, 3, 1});
  constexpr double kScale = 1e-6;  // the constant scale is a float
  expect_same({"LinearAttention", 27, {q, k, v}, rule("linear"), 2}, 13, {}, kScale);
  expect_same({"LinearAttention", 27, {q, k, v, past, by_head}, rule("gated"), 2}, 11, {}, kScale);
  expect_same({"LinearAttention", 27, {q, k, v, past, missing(), beta}, rule("delta"), 2}, 9, {}, kScale);
  const OneNode both("LinearAttention", 27, {q, k, v, missing(), decay, by_head}, rule("gated_delta"), 2);
  expect_same(both, 9, {}, kScale);
  expect_same(with_open_axes(both, 0, {0, 1}), 9, {}, kScale);
}

TEST(LoopExpansion, TensorScatter) {
  const Tensor cache = mixed({2, 3, 5, 2}), update = counted({2, 3, 2, 2});
  for (const int64_t to : {23, 11}) {
    expect_same({"TensorScatter", 24, {cache, update, int64s({3, 0})}}, to);
    expect_same({"TensorScatter", 24, {cache, update}}, to);
    const AttributeList circular = {{"mode", std::string("circular")}, {"axis", int64_t{-2}}};
    expect_same({"TensorScatter", 24, {cache, update, int64s({4, 13})}, circular}, to);
    expect_same(with_open_axes({"TensorScatter", 24, {cache, update, int64s({4, 13})}, circular}, 1, {0, 2}),
                to);
    const AttributeList last = {{"axis", int64_t{2}}};
    expect_same({"TensorScatter", 24, {mixed({2, 3, 5}), counted({2, 3, 1}), int64s({4, 2})}, last}, to);
  }
}

}  // namespace
}  // namespace assay::loops_test
