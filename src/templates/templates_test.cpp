#include "templates/templates.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <unordered_set>

#include "base/thread_pool.h"
#include "graph/export.h"
#include "ops/check.h"
#include "ops/infer.h"
#include "ops/op_set.h"

namespace assay::templates_test {
namespace {

std::shared_ptr<Model> structure(const ModelTemplate& t, int64_t opset, std::optional<int64_t> batch) {
  return build_template(t, {.batch = batch, .opset = opset, .weights = TemplateWeights::kShapesOnly});
}

/// Every name is defined once and before its use, every node has a name of its own, and nothing is left over.
void expect_consistent(const Graph& g) {
  std::unordered_set<const Value*> defined(g.inputs.begin(), g.inputs.end());
  std::set<std::string> node_names;
  for (const auto& v : g.values())
    if (v->is_constant()) {
      EXPECT_FALSE(v->consumers().empty()) << v->name() << " is not used";
      defined.insert(v.get());
    }
  for (const auto& n : g.nodes()) {
    EXPECT_TRUE(node_names.insert(n->name).second) << n->name << " names two nodes";
    for (const Value* v : n->inputs())
      EXPECT_TRUE(v == nullptr || defined.contains(v)) << n->label() << " comes too early";
    for (const Value* v : n->outputs()) EXPECT_TRUE(defined.insert(v).second) << v->name();
  }
  EXPECT_FALSE(g.outputs.empty());
  for (const Value* v : g.outputs) EXPECT_NE(v->producer(), nullptr) << v->name();
  for (const Value* v : g.inputs) EXPECT_FALSE(v->consumers().empty()) << v->name() << " is not used";
  for (const auto& v : g.values()) {
    const bool is_output = std::find(g.outputs.begin(), g.outputs.end(), v.get()) != g.outputs.end();
    EXPECT_TRUE(is_output || !v->consumers().empty()) << v->name() << " leads nowhere";
  }
}

/// Every node is a legal use of its operator in the model's opset.
void expect_legal(const Model& model) {
  for (const auto& n : model.graph->nodes()) {
    const OpDef* op = built_in_ops().find(n->domain, n->op_type);
    ASSERT_NE(op, nullptr) << n->label();
    const OpVersion* version = version_for(*op, model.opset());
    ASSERT_NE(version, nullptr) << n->label();
    EXPECT_NO_THROW(check_node(*n, *op, *version)) << n->label();
  }
}

/// What inference finds of the outputs agrees with what the template declares.
void expect_declared_outputs(Model& model, bool exactly) {
  std::vector<Type> declared;
  for (Value* v : model.graph->outputs) declared.push_back(std::exchange(v->type, {}));
  infer_shapes(model);
  for (size_t i = 0; i < declared.size(); ++i) {
    const Value& v = *model.graph->outputs[i];
    ASSERT_TRUE(v.type.has_shape()) << v.name();
    EXPECT_EQ(v.type.dtype, declared[i].dtype) << v.name();
    ASSERT_EQ(v.type.dims->size(), declared[i].dims->size()) << v.name();
    for (size_t d = 0; d < declared[i].dims->size(); ++d) {
      const Dim &found = (*v.type.dims)[d], &expected = (*declared[i].dims)[d];
      if (!exactly && !found.is_known()) continue;
      EXPECT_EQ(found.str(), expected.str()) << v.name() << " dimension " << d;
    }
  }
}

class EveryTemplate : public testing::TestWithParam<const ModelTemplate*> {};

TEST_P(EveryTemplate, IsConsistentInEveryOpset) {
  const ModelTemplate& t = *GetParam();
  for (int64_t opset = t.min_opset; opset <= t.max_opset; ++opset)
    for (const std::optional<int64_t> batch :
         {std::optional<int64_t>(1), std::optional<int64_t>(3), std::optional<int64_t>()}) {
      SCOPED_TRACE(fmt::format("opset {}, batch {}", opset, batch.value_or(-1)));
      const std::shared_ptr<Model> model = structure(t, opset, batch);
      EXPECT_EQ(model->opset(), opset);
      expect_consistent(*model->graph);
      expect_legal(*model);
      const Dim expected = batch ? Dim(*batch) : Dim::symbol("batch");
      for (const Value* v : model->graph->inputs) EXPECT_EQ(v->type.dims->front(), expected) << v->name();
      expect_declared_outputs(*model, batch.has_value());
    }
}

std::string test_name(const testing::TestParamInfo<const ModelTemplate*>& info) {
  std::string name(info.param->name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Templates, EveryTemplate,
                         testing::ValuesIn(all_templates().begin(), all_templates().end()), test_name);

struct Published {
  int64_t parameters;
  double gflops;  ///< two operations for one multiply-accumulate
};

TEST(Templates, HaveThePublishedSizes) {
  // torchvision, Ultralytics (fused), timm, Hugging Face; unet, lstm, mlp and the operations of the language
  // models are sums over their layers. Publications that count multiply-accumulates are doubled here.
  const std::map<std::string, Published> published = {
      {"resnet-18", {11689512, 3.63}},    {"resnet-50", {25557032, 8.18}},
      {"mobilenet-v2", {3504872, 0.602}}, {"efficientnet-b0", {5288548, 0.772}},
      {"yolov8n", {3151904, 8.7}},        {"unet", {31037698, 96.34}},
      {"vit-b-16", {86567656, 35.1}},     {"bert-base", {109482240, 22.35}},
      {"gpt2", {124439808, 16.0}},        {"gpt2-decode", {124439808, 0.2495}},
      {"lstm", {8762397, 1.12}},          {"mlp", {2913290, 0.00582}},
      {"mnist-cnn", {3274634, 0.02777}},  {"mnist-nonzero", {3274634, 0.02777}},
      {"mnist-shapes", {3274634, 0.02777}}};
  ASSERT_EQ(published.size(), all_templates().size());
  for (const ModelTemplate* t : all_templates()) {
    const TemplateStatistics s = template_statistics(*t);
    const Published& p = published.at(std::string(t->name));
    EXPECT_EQ(s.parameters, p.parameters) << t->name;
    EXPECT_NEAR(s.gflops() / p.gflops, 1, 0.01) << t->name << " has " << s.gflops() << " GFLOPs";
  }
}

TEST(Templates, StatisticsScaleWithTheBatch) {
  for (const char* name : {"resnet-18", "bert-base", "lstm"}) {
    const ModelTemplate& t = find_template(name);
    EXPECT_EQ(template_statistics(t, {.batch = 4}).macs, 4 * template_statistics(t).macs) << name;
    EXPECT_EQ(template_statistics(t, {.batch = 4}).parameters, template_statistics(t).parameters) << name;
  }
  EXPECT_THROW(template_statistics(find_template("mlp"), {.batch = std::nullopt}), Error);
  const TemplateOptions largest = {.batch = kLargestTemplateBatch};
  for (const ModelTemplate* t : all_templates())
    EXPECT_EQ(template_statistics(*t, largest).macs / kLargestTemplateBatch, template_statistics(*t).macs)
        << t->name;
}

TEST(Templates, StatisticsDoNotDependOnTheOpset) {
  for (const ModelTemplate* t : all_templates()) {
    const TemplateStatistics oldest = template_statistics(*t, {.opset = t->min_opset});
    const TemplateStatistics newest = template_statistics(*t, {.opset = t->max_opset});
    EXPECT_EQ(oldest.parameters, newest.parameters) << t->name;
    EXPECT_EQ(oldest.macs, newest.macs) << t->name;
  }
}

TEST(Templates, FileSizeIsWhatIsWritten) {
  for (const char* name : {"mlp", "mobilenet-v2"}) {
    const ModelTemplate& t = find_template(name);
    EXPECT_EQ(static_cast<size_t>(template_statistics(t).file_bytes),
              serialize_model(*build_template(t)).size())
        << name;
  }
}

TEST(Templates, SameSeedSameBytes) {
  const ModelTemplate& t = find_template("mobilenet-v2");
  const std::string bytes = serialize_model(*build_template(t, {.seed = 7}));
  const PoolScope scope(std::make_shared<ThreadPool>(2));
  EXPECT_EQ(bytes, serialize_model(*build_template(t, {.seed = 7})));
  EXPECT_NE(bytes, serialize_model(*build_template(t, {.seed = 8})));
}

TEST(Templates, WeightsDoNotDependOnOpsetOrBatch) {
  const ModelTemplate& t = find_template("mobilenet-v2");
  const std::shared_ptr<Model> a = build_template(t, {.seed = 1, .opset = t.min_opset});
  const std::shared_ptr<Model> b =
      build_template(t, {.seed = 1, .batch = std::nullopt, .opset = t.max_opset});
  int weights = 0;
  for (const auto& v : a->graph->values()) {
    if (!v->is_constant() || v->name().starts_with('/')) continue;
    const Value* other = b->graph->find_value(v->name());
    ASSERT_NE(other, nullptr) << v->name();
    EXPECT_TRUE(v->tensor().identical(other->tensor())) << v->name();
    ++weights;
  }
  EXPECT_EQ(weights, 52 * 5 + 2);
}

TEST(Templates, RunningStatisticsAreRealistic) {
  const std::shared_ptr<Model> model = build_template(find_template("resnet-18"));
  int seen = 0;
  for (const auto& v : model->graph->values()) {
    if (!v->name().ends_with(".running_var")) continue;
    const Tensor weights = v->tensor().aligned();
    for (const float x : weights.span<float>())
      ASSERT_TRUE(x > 1e-3F && x < 1e3F) << v->name() << ": " << x;
    ++seen;
  }
  EXPECT_EQ(seen, 20);
}

TEST(Templates, AreNamedAsExportersDo) {
  const std::shared_ptr<Model> model = structure(find_template("resnet-18"), 17, 1);
  const Value* weight = model->graph->find_value("layer1.0.conv1.weight");
  ASSERT_NE(weight, nullptr);
  EXPECT_EQ(weight->tensor().shape(), (Shape{64, 64, 3, 3}));
  EXPECT_EQ(weight->consumers().at(0)->name, "/layer1/layer1.0/conv1/Conv");
  EXPECT_EQ(weight->consumers().at(0)->output(0)->name(), "/layer1/layer1.0/conv1/Conv_output_0");
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(Templates, UnknownNamesGetTheNearestOnes) {
  EXPECT_EQ(message_of([] { find_template("resnet18"); }),
            "there is no model template named 'resnet18'. The nearest is 'resnet-18'.");
  EXPECT_EQ(message_of([] { find_template("resnet"); }),
            "there is no model template named 'resnet'. The nearest are 'resnet-18' and 'resnet-50'.");
  EXPECT_EQ(message_of([] { find_template("gtp2"); }),
            "there is no model template named 'gtp2'. The nearest is 'gpt2'.");
  EXPECT_NE(message_of([] { find_template(""); }).find("no model template named ''"), std::string::npos);
  EXPECT_NE(message_of([] { find_template(std::string(10000, 'x')); }).find("no model template"),
            std::string::npos);
}

TEST(Templates, RefuseWhatTheyCannotBe) {
  const ModelTemplate& t = find_template("mlp");
  EXPECT_EQ(message_of([&] { build_template(t, {.opset = 10}); }),
            "the model template 'mlp' exists for opsets 11 to 28, not for opset 10");
  EXPECT_EQ(message_of([&] { build_template(t, {.opset = 29}); }),
            "the model template 'mlp' exists for opsets 11 to 28, not for opset 29");
  EXPECT_EQ(message_of([&] { build_template(t, {.batch = 0}); }),
            "the batch of a model template must be from 1 to 1048576, not 0");
  EXPECT_EQ(message_of([&] { build_template(t, {.batch = -3}); }),
            "the batch of a model template must be from 1 to 1048576, not -3");
  EXPECT_EQ(message_of([&] { build_template(t, {.batch = INT64_MAX}); }),
            "the batch of a model template must be from 1 to 1048576, not 9223372036854775807");
}

TEST(Templates, NamesAndSummariesAreGood) {
  std::set<std::string_view> names;
  for (const ModelTemplate* t : all_templates()) {
    EXPECT_TRUE(names.insert(t->name).second) << t->name;
    EXPECT_EQ(&find_template(t->name), t);
    EXPECT_FALSE(t->summary.empty()) << t->name;
    EXPECT_LE(t->summary.size(), 100U) << t->name;
  }
}

}  // namespace
}  // namespace assay::templates_test
