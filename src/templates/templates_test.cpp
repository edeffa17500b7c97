#include "templates/template_set.h"

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
    const auto is_used = [&](const Value* x) {
      return !x->consumers().empty() || std::find(g.outputs.begin(), g.outputs.end(), x) != g.outputs.end();
    };
    // Of several outputs, one used output is enough.
    const bool has_used_sibling =
        v->producer() != nullptr && std::ranges::any_of(v->producer()->outputs(), is_used);
    EXPECT_TRUE(is_used(v.get()) || has_used_sibling) << v->name() << " leads nowhere";
  }
}

/// Every node is a legal use of its operator in the model's opset.
void expect_legal(const Model& model) {
  for (const auto& n : model.graph->nodes()) {
    const OpDef* op = built_in_ops().find(n->domain, n->op_type);
    ASSERT_NE(op, nullptr) << n->label();
    const OpVersion* version = version_for(*op, model.opset(n->domain));
    ASSERT_NE(version, nullptr) << n->label();
    EXPECT_NO_THROW(check_node(*n, *op, *version)) << n->label();
  }
}

/// Inferred output types agree with those that the template declares.
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
      if (t.has_batch_first) {
        for (const Value* v : model->graph->inputs) EXPECT_EQ(v->type.dims->front(), expected) << v->name();
      }
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
  // torchvision, timm, Ultralytics (fused), Hugging Face. Where batch normalizations are folded, one
  // parameter of each of their channels is gone: "- N". "sum" marks sums over the layers, if no publication
  // has this size. Publications that count multiply-accumulates are doubled here; operations
  // of language models are sums.
  const std::map<std::string, Published> published = {
      {"resnet-18", {11689512, 3.63}},
      {"resnet-34", {21797672 - 8512, 7.33}},
      {"resnet-50", {25557032, 8.18}},
      {"resnet-101", {44549160 - 52672, 15.6}},
      {"resnext-50", {25028904, 8.46}},
      {"regnet-y-400mf", {4344144, 0.8}},
      {"mobilenet-v1", {4231976 - 10944, 1.14}},
      {"mobilenet-v2", {3504872, 0.602}},
      {"mobilenet-v3-large", {5483032, 0.433}},
      {"mobilenet-v3-small", {2542856, 0.113}},
      {"shufflenet-v2", {2278604, 0.29}},
      {"ghostnet", {5182508, 0.28}},  // sum: 5.18 M
      {"densenet-121", {7978856, 5.67}},
      {"inception-v3", {27161264 - 3326696, 11.43}},  // without the auxiliary classifier
      {"inception-v4", {42679816 - 31584, 24.5}},
      {"efficientnet-b0", {5288548, 0.772}},
      {"efficientnet-v2-s", {21458488, 16.74}},
      {"convnext-tiny", {28589128, 8.91}},
      {"vit-b-16", {86567656, 35.1}},
      {"deit-small", {22050664, 9.2}},
      {"swin-tiny", {28288354, 9.0}},
      {"yolov5s", {7225885, 16.4}},
      {"yolov8n", {3151904, 8.7}},
      {"yolo11n", {2616248, 6.5}},
      {"ssd300-vgg16", {35641826, 69.7}},
      {"detr-r50", {41524768 + 26560, 49.8}},  // the folded norms' shifts; the authors count no frozen norms
      {"unet", {31037698, 96.34}},
      {"deeplab-v3", {42004074, 135.4}},
      {"segformer-b0", {3752694, 16.8}},
      {"hrnet-w18", {21299004, 8.6}},
      {"espcn", {59657, 5.97}},
      {"edsr", {1369859, 25.3}},
      {"vae", {3937635, 0.1048}},
      {"bert-base", {109482240, 22.35}},
      {"roberta-base", {124645632, 22.35}},
      {"distilbert-base", {66362880, 11.17}},
      {"albert-base", {11683584, 22.35}},
      {"t5-small-encoder", {35330816, 5.03}},
      {"gpt2", {124439808, 16.0}},
      {"gpt2-decode", {124439808, 0.2495}},
      {"pythia-160m", {162322944, 15.97}},
      {"smollm", {134515008, 17.5}},
      {"smollm-decode", {134515008, 0.278}},
      {"smollm-decode-fused", {134515008, 0.278}},
      {"mixture-of-experts", {88232448, 2.47}},
      {"mamba-130m", {129135360, 16.44}},
      {"tcn", {2220100, 1.789}},
      {"lstm", {8762397, 1.12}},
      {"deep-speech-2-lstm", {86618400, 19.43}},
      {"deep-speech-2-gru", {32684320, 8.65}},
      {"wav2vec2-base",
       {94396320 - 128 - 768, 13.83}},  // without the weight norm's lengths and the mask's embedding
      {"conformer-small", {8834272, 1.274}},
      {"whisper-tiny-encoder", {8208384, 36.94}},
      {"whisper-tiny-decode", {28371072, 0.0658}},
      {"tacotron2-step", {18189969, 0.0377}},
      {"hifigan-v1", {13926017, 19.65}},
      {"vits", {15430786, 0.6453}},
      {"voice-activity", {462594, 0}},
      {"diffusion-unet", {37522628, 9.05}},
      {"crnn", {8331301, 2.235}},
      {"wide-and-deep", {10842689, 0.00304}},
      {"dlrm", {4635985, 0.000972}},
      {"gcn", {23063, 0.1248}},
      {"random-forest", {0, 0}},
      {"gradient-boosting", {0, 0}},
      {"mlp", {2913290, 0.00582}},
      {"mnist-cnn", {3274634, 0.02777}},
      {"mnist-nonzero", {3274634, 0.02777}},
      {"mnist-shapes", {3274634, 0.02777}}};
  ASSERT_EQ(published.size(), all_templates().size());
  for (const ModelTemplate* t : all_templates()) {
    const TemplateStatistics s = template_statistics(*t);
    const Published& p = published.at(std::string(t->name));
    EXPECT_EQ(s.parameters, p.parameters) << t->name;
    EXPECT_NEAR(s.gflops(), p.gflops, 0.01 * p.gflops) << t->name << " has " << s.gflops() << " GFLOPs";
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
  for (const ModelTemplate* t : all_templates()) {
    // Values independent of the input, like products of positions, count once; they are few.
    const int64_t one = template_statistics(*t).macs,
                  slope = template_statistics(*t, {.batch = 2}).macs - one;
    EXPECT_EQ(template_statistics(*t, largest).macs, one + (kLargestTemplateBatch - 1) * slope) << t->name;
    EXPECT_GE(slope, one - one / 16) << t->name;
    EXPECT_LE(slope, one) << t->name;
  }
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
    for (const float x : weights.span<float>()) ASSERT_TRUE(x > 1e-3F && x < 1e3F) << v->name() << ": " << x;
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
            "there is no model template named 'resnet'. The nearest are 'resnet-18' and 'resnet-34' and "
            "'resnet-50' and 'resnet-101'.");
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
