#include "passes/pass_cases.h"
#include "passes/graph_summary_test_util.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <sstream>

#include "graph/clone.h"
#include "naming/origins.h"
#include "ops/infer.h"
#include "passes/pass_list.h"
#include "passes/pass_manager.h"
#include "passes/region.h"
#include "reference/interpreter.h"
#include "tensor/convert.h"

namespace assay::pass_cases_test {
namespace {

/// Numbers around zero for the inputs; open extents become 3; 1 for integers and true.
std::vector<Tensor> feed_of(const Model& model) {
  std::vector<Tensor> feed;
  uint64_t state = 7;
  for (const Value* v : model.graph->inputs) {
    Shape shape;
    for (const Dim& d : *v->type.dims) shape.push_back(d.is_known() ? d.value() : 3);
    Tensor t = Tensor::allocate(DType::kFloat32, shape);
    for (float& x : t.mutable_span<float>()) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      x = is_float(v->type.dtype) ? static_cast<float>(state >> 40) * 0x1p-22F - 2 : 1;
    }
    feed.push_back(convert(t, v->type.dtype));
  }
  return feed;
}

std::vector<Tensor> evaluate(const std::shared_ptr<Model>& model) {
  std::vector<Tensor> out(model->graph->outputs.size());
  Interpreter(model).run(feed_of(*model), [&](const Value& v, std::span<const Tensor> lanes) {
    for (size_t i = 0; i < out.size(); ++i)
      if (model->graph->outputs[i] == &v) out[i] = lanes[0];
  });
  return out;
}

void expect_equal_results(const std::shared_ptr<Model>& before, const std::shared_ptr<Model>& after) {
  pass_inline_functions::def.run(*before);  // the interpreter calls no functions
  const std::vector<Tensor> a = evaluate(before), b = evaluate(after);
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].shape(), b[i].shape());
    ASSERT_EQ(a[i].dtype(), b[i].dtype());
    const Tensor x = convert(a[i], DType::kFloat64), y = convert(b[i], DType::kFloat64);
    for (int64_t k = 0; k < x.numel(); ++k) {
      const double p = x.data<double>()[k], q = y.data<double>()[k];
      ASSERT_TRUE(p == q || (std::isnan(p) && std::isnan(q)) || std::abs(p - q) <= 1e-5 * (1 + std::abs(p)))
          << p << " became " << q;
    }
  }
}

std::vector<const PassDef*> passes_of(const PassCase& c) {
  std::vector<const PassDef*> passes;
  std::istringstream names(c.pass);
  for (std::string name; names >> name;) {
    passes.push_back(built_in_passes().find(name));
    EXPECT_NE(passes.back(), nullptr) << "no pass is named " << name;
  }
  return passes;
}

class PassCases : public testing::TestWithParam<PassCase> {};

TEST_P(PassCases, GraphAndResults) {
  const PassCase& c = GetParam();
  const std::shared_ptr<Model> before = model_of(c), after = clone_model(*before);
  const std::string unchanged = summary_of(*before->graph);
  const std::vector<PassReport> reports = run_passes(*after, passes_of(c), {.verify = true});
  const bool changes = *c.after != '\0';
  EXPECT_EQ(reports.back().edits > 0, changes);
  EXPECT_EQ(summary_of(*after->graph), changes ? c.after : unchanged);
  dissolve_regions(*after, [](const Node&) { return true; });
  infer_shapes(*after);
  expect_equal_results(before, after);
}

INSTANTIATE_TEST_SUITE_P(All, PassCases, testing::ValuesIn(pass_cases().begin(), pass_cases().end()),
                         [](const auto& info) {
                           return std::string(passes_of(info.param).back()->name) + "_" +
                                  std::to_string(info.index);
                         });

TEST(PassCases, EveryPassHasOneThatChangesSomething) {
  std::set<std::string_view> covered;
  for (const PassCase& c : pass_cases())
    if (*c.after != '\0') covered.insert(passes_of(c).back()->name);
  for (const PassDef* p : built_in_passes().all())
    EXPECT_TRUE(covered.contains(p->name)) << "add a case for " << p->name << " to pass_cases.cpp";
}

}  // namespace
}  // namespace assay::pass_cases_test
