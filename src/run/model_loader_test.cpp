#include "run/model_loader.h"

#include "run/run_test_util.h"

namespace assay::model_loader_test {
namespace {

const FakeBackend kReader("reader", /*reads_files=*/true);

class ModelLoaderTest : public FakeBackendTest {
 protected:
  ModelLoaderTest() { options.path = save_two_layers(folder); }
  std::vector<std::string> outputs(const Backend& backend) {
    const ModelSource source = ModelLoader(options).load_for(backend);
    std::vector<std::string> names;
    for (const Value* v : source.model->graph->outputs) names.push_back(v->name());
    return names;
  }
  ModelLoaderOptions options;
};

TEST_F(ModelLoaderTest, AnUnchangedModelIsReadByPathWithoutAWord) {
  log::Capture capture;
  ModelLoader loader(options);
  EXPECT_FALSE(loader.changes_model());
  EXPECT_EQ(loader.load_for(kReader).path, options.path);
  EXPECT_EQ(capture.out(), "");
}

TEST_F(ModelLoaderTest, WhoRunsTheGraphGetsEveryShape) {
  ModelLoader loader(options);
  EXPECT_FALSE(loader.load_for(kReader).model->graph->find_value("h")->type.is_tensor());
  EXPECT_EQ(loader.load_for(fake_backend).model->graph->find_value("h")->type.str(),
            loader.load_for(fake_backend).model->graph->find_value("x")->type.str());
}

TEST_F(ModelLoaderTest, WarnsOnceOfAnOpsetThatIsUnknown) {
  const std::shared_ptr<Model> model = load_model(options.path);
  model->opsets = {{"", 9999}};
  save_model(*model, options.path);
  log::Capture capture;
  ModelLoader loader(options);
  loader.load_for(kReader);
  EXPECT_EQ(capture.out(), "") << "who reads files knows for itself";
  loader.load_for(fake_backend);
  loader.load_for(fake_backend);
  EXPECT_TRUE(capture.out().starts_with(
      "[W] In " + options.path + ", the model imports version 9999 of 'ai.onnx', but 28 is the newest"))
      << capture.out();
  EXPECT_EQ(capture.out().find("[W]", 1), std::string::npos) << capture.out();
}

TEST_F(ModelLoaderTest, EveryRunnerHearsThatTheModelIsLoaded) {
  log::Capture capture;
  options.outputs = {"h"};
  ModelLoader loader(options);
  const ModelSource first = loader.load_for(kReader);
  EXPECT_EQ(first.path, "");
  EXPECT_EQ(loader.load_for(kReader).model, first.model) << "but it is loaded once";
  EXPECT_EQ(capture.out(),
            "[I] Loading model: " + options.path + "\n[I] Loading model: " + options.path + "\n");
}

TEST_F(ModelLoaderTest, MarksAndExcludesOutputs) {
  log::Capture capture;
  options.mark_all = true;
  EXPECT_EQ(outputs(fake_backend), (std::vector<std::string>{"h", "y"}));
  options.exclude_outputs = {"y"};
  EXPECT_EQ(outputs(kReader), (std::vector<std::string>{"h"}));
  options.mark_all = false;
  options.exclude_outputs.reset();
  options.outputs = {"nope"};
  EXPECT_EQ(error_of([&] { outputs(kReader); }),
            "The following outputs were not found in the model: {'nope'} [in " + options.path + "]");
}

TEST_F(ModelLoaderTest, SavesOnceWithWhatWasAskedFor) {
  log::Capture capture;
  options.mark_all = true;
  options.infer_shapes = true;
  options.save.path = folder / "saved.onnx";
  ModelLoader loader(options);
  loader.load_for(kReader);
  loader.load_for(fake_backend);
  EXPECT_EQ(capture.out(), "[I] Loading model: " + options.path + "\n[I] Saving ONNX model to: " +
                               options.save.path + "\n[I] Loading model: " + options.path + "\n");
  const auto saved = load_model(options.save.path);
  EXPECT_EQ(saved->graph->outputs.size(), 2U);
  EXPECT_TRUE(saved->graph->find_value("h")->type.has_shape());
}

TEST_F(ModelLoaderTest, WithoutInferenceASavedModelHasWhatTheFileHad) {
  log::Capture capture;
  options.save.path = folder / "saved.onnx";
  ModelLoader(options).load_for(fake_backend);
  const auto saved = load_model(options.save.path);
  EXPECT_FALSE(saved->graph->find_value("h")->type.is_tensor());
}

TEST_F(ModelLoaderTest, ExternalDataOptionsWithoutExternalDataAreReported) {
  log::Capture capture;
  options.save.path = folder / "saved.onnx";
  options.save.external_data_threshold = 1;
  options.save.one_file_per_tensor = true;
  ModelLoader(options).load_for(kReader);
  EXPECT_NE(capture.out().find("[W] size_threshold is set, but external data path has not been set."),
            std::string::npos);
  EXPECT_NE(
      capture.out().find("[W] all_tensors_to_one_file is set, but external data path has not been set."),
      std::string::npos);
}

TEST_F(ModelLoaderTest, AMissingFileIsNamed) {
  options.path = folder / "gone.onnx";
  EXPECT_NE(error_of([&] { outputs(kReader); }).find(options.path), std::string::npos);
}

}  // namespace
}  // namespace assay::model_loader_test
