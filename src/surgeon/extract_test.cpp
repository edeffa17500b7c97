#include "surgeon/extract.h"

#include <gtest/gtest.h>

#include "assay/error.h"

namespace assay::extract_test {
namespace {

Type floats(const Shape& shape) { return Type::tensor(DType::kFloat32, shape); }

/// y = Relu(Neg(x) + w); z = Abs(Neg(x)).
std::shared_ptr<Model> small_model() {
  auto m = std::make_shared<Model>();
  m->opsets = {{"", 17}};
  Graph& g = *m->graph;
  Value* x = g.add_input("x", floats({2}));
  Value* w = g.add_constant("w", Tensor::vector<float>({1, 2}));
  Value *n = g.add_value("n", floats({2})), *s = g.add_value("s"), *y = g.add_value("y", floats({2})),
        *z = g.add_value("z", floats({2}));
  g.add_node("Neg", {x}, {n}, {}, "neg");
  g.add_node("Add", {n, w}, {s}, {}, "add");
  g.add_node("Relu", {s}, {y}, {}, "relu");
  g.add_node("Abs", {n}, {z}, {}, "abs");
  g.outputs = {y, z};
  return m;
}

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

std::vector<std::string> operators(const Graph& g) {
  std::vector<std::string> list;
  for (const auto& n : g.nodes()) list.push_back(n->op_type);
  return list;
}

using Names = std::vector<std::string>;

TEST(Extract, KeepsWhatLiesBetween) {
  const auto m = small_model();
  extract(*m->graph, {{"n", Dims{Dim::symbol("k")}, {}}}, {{"s", {}, DType::kFloat32}});
  EXPECT_EQ(operators(*m->graph), Names{"Add"});
  ASSERT_EQ(m->graph->inputs.size(), 1U);
  EXPECT_EQ(m->graph->inputs[0]->type.str(), "float32[k]");
  EXPECT_EQ(m->graph->outputs[0]->type.str(), "float32");
  EXPECT_NE(m->graph->find_value("w"), nullptr);
  EXPECT_EQ(m->graph->find_value("x"), nullptr);
}

TEST(Extract, AConstantMayBecomeAnInput) {
  const auto m = small_model();
  extract(*m->graph, {{"n", {}, {}}, {"w", {}, {}}}, {{"y", {}, {}}});
  EXPECT_EQ(m->graph->inputs.size(), 2U);
  EXPECT_FALSE(m->graph->find_value("w")->is_constant());
}

TEST(Extract, NamesWhatIsMissing) {
  const auto m = small_model();
  const std::string message = error_of([&] {
    extract(*m->graph, {{"s", {}, {}}}, {{"y", {}, {}}, {"z", {}, {}}});
  });
  EXPECT_NE(message.find("'x' (used by 'neg' (Neg))"), std::string::npos) << message;
  EXPECT_NE(message.find("to the inputs"), std::string::npos) << message;
}

TEST(Extract, RefusesACutThatIsACycle) {
  // The output comes before the input.
  const auto m = small_model();
  const std::string message = error_of([&] { extract(*m->graph, {{"y", {}, {}}}, {{"n", {}, {}}}); });
  EXPECT_NE(message.find("'x'"), std::string::npos) << message;
}

TEST(Extract, NamesAreChecked) {
  const auto m = small_model();
  EXPECT_EQ(error_of([&] {
              extract(*m->graph, {}, {{"nothing", {}, {}}});
            }),
            "Tensor: nothing does not exist in the model");
}

TEST(Extract, ABodyBecomesAModel) {
  auto m = std::make_shared<Model>();
  m->opsets = {{"", 17}};
  Graph& g = *m->graph;
  Value* condition = g.add_input("c", Type::tensor(DType::kBool, Shape()));
  Value* x = g.add_input("x", floats({2}));
  Value* w = g.add_constant("w", Tensor::vector<float>({1, 2}));
  const auto branch = [&](const char* op) {
    auto sub = std::make_shared<Graph>();
    sub->set_parent(&g);
    Value* y = sub->add_value(std::string(op) + "_y", floats({2}));
    sub->add_node(op, {x, w}, {y}, {}, op);
    sub->outputs = {y};
    return sub;
  };
  Value* y = g.add_value("y");
  auto then_branch = branch("Add");
  g.add_node("If", {condition}, {y}, {{"then_branch", then_branch}, {"else_branch", branch("Sub")}}, "if");
  g.outputs = {y};
  Graph& body = *then_branch;
  then_branch.reset();  // the If holds it
  make_main_graph(*m, body);
  EXPECT_EQ(operators(*m->graph), Names{"Add"});
  ASSERT_EQ(m->graph->inputs.size(), 1U);
  EXPECT_EQ(m->graph->inputs[0]->name(), "x");
  EXPECT_TRUE(m->graph->find_value("w")->is_constant());
  EXPECT_EQ(m->graph->outputs[0]->name(), "Add_y");
}

std::shared_ptr<Model> model_with_function(bool has_default) {
  auto m = std::make_shared<Model>();
  m->opsets = {{"", 17}, {"local", 1}};
  Function& f = m->functions.emplace_back();
  f.domain = "local";
  f.name = "F";
  f.opsets = {{"", 18}};
  Value* x = f.body->add_input("a", {});
  Value* y = f.body->add_value("b");
  Node* n = f.body->add_node("LeakyRelu", {x}, {y});
  Attribute alpha;
  alpha.name = "alpha";
  alpha.ref_attr_name = "slope";
  n->attributes.push_back(alpha);
  f.body->outputs = {y};
  if (has_default) {
    Attribute slope;
    slope.name = "slope";
    slope.data = 0.5F;
    f.attribute_defaults.push_back(slope);
  }
  return m;
}

TEST(Extract, AFunctionsBodyTakesTheDefaults) {
  const auto m = model_with_function(true);
  make_main_graph(*m, *m->functions[0].body);
  EXPECT_EQ(m->opset(), 18);
  EXPECT_EQ(*m->graph->nodes()[0]->find_attribute("alpha")->get_if<float>(), 0.5F);
}

TEST(Extract, AParameterWithoutDefaultIsRefused) {
  const auto m = model_with_function(false);
  const std::string message = error_of([&] { make_main_graph(*m, *m->functions[0].body); });
  EXPECT_NE(message.find("'slope' of the function 'F', which has no default"), std::string::npos) << message;
}

}  // namespace
}  // namespace assay::extract_test
