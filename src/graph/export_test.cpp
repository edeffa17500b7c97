#include "graph/export.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "assay/edit.h"
#include "assay/error.h"
#include "graph/import.h"
#include "graph/value_info.h"
#include "onnx/writer.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

class Export : public ::testing::Test {
 protected:
  Export() {
    std::string pattern = (fs::temp_directory_path() / "export-test-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~Export() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  bool exists(const std::string& name) const { return fs::exists(folder_ / name); }
  std::string content(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  /// y = x + weight of 1000 float32 of that value, with external data.
  void save_external(const std::string& name, float value) const {
    Model m;
    m.opsets = {{"", 17}};
    Value* x = m.graph->add_input("x", Type::tensor(DType::kFloat32, Shape({1000})));
    Value* w = m.graph->add_constant("w", Tensor::vector<float>(std::vector<float>(1000, value)));
    Value* y = m.graph->add_value("y", Type::tensor(DType::kFloat32, Shape({1000})));
    m.graph->add_node("Add", {x, w}, {y});
    m.graph->outputs = {y};
    save_model(m, path(name), {.external_data = true});
  }
  static float weight(const Model& m) { return m.graph->find_value("w")->tensor().aligned().data<float>()[7]; }
  /// The message of the error that saving gives.
  std::string refusal(const Model& m, const std::string& name, const ExportOptions& options = {}) const {
    try {
      save_model(m, path(name), options);
    } catch (const Error& e) {
      return e.what();
    }
    return "saved";
  }

  fs::path folder_;
};

TEST_F(Export, NewInitializersNeedAnIrVersionThatKnowsThem) {
  const std::string start = "opset_import: [\"\" : 8]> g (float[2] x, float[2] w) => (float[2] y)";
  const auto given = [&](const std::string& words) {
    std::ofstream(path("old.onnxtxt")) << words;
    return load_model(path("old.onnxtxt"));
  };
  const auto saved = [&](const Model& m, const std::string& name) {
    save_model(m, path(name));
    return load_model(path(name))->ir_version;
  };
  const auto listed = given("<ir_version: 3, " + start + " <float[2] w = {1, 2}> { y = Add (x, w) }");
  EXPECT_EQ(saved(*listed, "out.onnx"), 3);
  Value* one = listed->graph->add_constant("one", Tensor::vector<float>({1, 1}));
  listed->graph->nodes()[0]->set_input(1, one);
  EXPECT_EQ(saved(*listed, "out.onnx"), 4);
  EXPECT_EQ(saved(*listed, "out.onnxtxt"), 4);
  EXPECT_EQ(listed->ir_version, 3);
  listed->ir_version = 8;
  EXPECT_EQ(saved(*listed, "out.onnx"), 8);
  // One that was wrong when it was read is written as it was.
  const auto unlisted = given("<ir_version: 3, " + start + " <float[2] v = {1, 2}> { y = Add (w, v) }");
  EXPECT_EQ(saved(*unlisted, "out.onnx"), 3);
}

TEST_F(Export, LeavesDataWhereTheyAreBesideTheNewModel) {
  save_external("a.onnx", 1);
  const auto data_written = fs::last_write_time(path("a.onnx.data"));
  const auto m = load_model(path("a.onnx"));
  m->doc_string = "changed";
  save_model(*m, path("b.onnx"));
  EXPECT_FALSE(exists("b.onnx.data"));
  EXPECT_LT(fs::file_size(path("b.onnx")), 1000U);
  EXPECT_EQ(fs::last_write_time(path("a.onnx.data")), data_written);
  EXPECT_EQ(weight(*load_model(path("b.onnx"))), 1);
}

TEST_F(Export, TakesDataAlongToAnotherFolder) {
  save_external("a.onnx", 2);
  save_model(*load_model(path("a.onnx")), path("other/b.onnx"));
  EXPECT_GT(fs::file_size(path("other/b.onnx")), 4000U);
  EXPECT_EQ(weight(*load_model(path("other/b.onnx"))), 2);
  save_model(*load_model(path("a.onnx")), path("other/c.onnx"),
             {.external_data = true, .external_data_path = "c"});
  EXPECT_EQ(fs::file_size(path("other/c")), 4000U);
  EXPECT_EQ(weight(*load_model(path("other/c.onnx"))), 2);
}

TEST_F(Export, ReplacesAModelAndItsData) {
  save_external("a.onnx", 3);
  const std::string before = content("a.onnx") + content("a.onnx.data");
  const auto m = load_model(path("a.onnx"));
  save_model(*m, path("a.onnx"), {.external_data = true});
  EXPECT_EQ(content("a.onnx") + content("a.onnx.data"), before);
  save_model(*m, path("a.onnx"));
  EXPECT_EQ(content("a.onnx") + content("a.onnx.data"), before);
  save_external("a.onnx", 4);
  EXPECT_EQ(weight(*load_model(path("a.onnx"))), 4);
}

TEST_F(Export, RefusesToOrphanData) {
  save_external("a.onnx", 1);
  auto m = load_model(path("a.onnx"));
  m->graph->find_value("w")->set_tensor(Tensor::vector<float>(std::vector<float>(1000, 5.0F)));
  const std::string message = refusal(*m, "a.onnx");
  EXPECT_NE(message.find("a.onnx.data without a model"), std::string::npos) << message;
  EXPECT_NE(refusal(*m, "a.onnx", {.external_data = true, .external_data_path = "new.data"})
                .find("without a model"),
            std::string::npos);
  EXPECT_FALSE(exists("new.data"));
  EXPECT_EQ(weight(*load_model(path("a.onnx"))), 1);
  EXPECT_EQ(refusal(*m, "a.onnx", {.external_data = true}), "saved");
  EXPECT_EQ(weight(*load_model(path("a.onnx"))), 5);
}

TEST_F(Export, RefusesToReplaceAnothersData) {
  save_external("a.onnx", 1);
  save_external("b.onnx", 2);
  const auto b = load_model(path("b.onnx"));
  const std::string message =
      refusal(*b, "c.onnx", {.external_data = true, .external_data_path = "./a.onnx.data"});
  EXPECT_NE(message.find("another model may need it"), std::string::npos) << message;
  EXPECT_FALSE(exists("c.onnx"));
  EXPECT_EQ(weight(*load_model(path("a.onnx"))), 1);
}

TEST_F(Export, KeepsReferencesToDataThatWereNotLoaded) {
  save_external("a.onnx", 6);
  const auto m = load_model(path("a.onnx"), {.ignore_external_data = true});
  m->graph->find_value("w")->rename("renamed");
  EXPECT_NE(refusal(*m, "other/b.onnx").find("not loaded"), std::string::npos);
  save_model(*m, path("b.onnx"));
  const auto b = load_model(path("b.onnx"));
  EXPECT_EQ(b->graph->find_value("renamed")->tensor().aligned().data<float>()[7], 6);
}

TEST_F(Export, RefusesDataOutsideTheFolder) {
  save_external("a.onnx", 1);
  const auto m = load_model(path("a.onnx"));
  for (const char* location : {"../x", "/tmp/x"})
    EXPECT_NE(refusal(*m, "b.onnx", {.external_data = true, .external_data_path = location})
                  .find("must lie in the model's folder"),
              std::string::npos);
}

TEST_F(Export, AConstantOfAFunctionsBodyBecomesANode) {
  Model m;
  m.opsets = {{"", 17}, {"local", 1}};
  Function& f = m.functions.emplace_back();
  f.domain = "local";
  f.name = "AddTwo";
  f.opsets = {{"", 17}};
  Value* in = f.body->add_input("in", {});
  Value* out = f.body->add_value("out");
  f.body->add_node("Add", {in, f.body->add_constant("two", Tensor::vector<float>({2}))}, {out});
  f.body->outputs = {out};
  save_model(m, path("f.onnx"));
  const auto back = load_model(path("f.onnx"));
  const Graph& body = *back->functions.at(0).body;
  ASSERT_EQ(body.nodes().size(), 2U);
  EXPECT_EQ(body.nodes()[0]->op_type, "Constant");
  EXPECT_EQ(body.nodes()[1]->input(1), body.nodes()[0]->output(0));
}

TEST_F(Export, WritesEqualModelsToEqualBytes) {
  save_external("a.onnx", 1);
  const auto m = load_model(path("a.onnx"));
  EXPECT_EQ(serialize_model(*m), serialize_model(*load_model(path("a.onnx"))));
  EXPECT_EQ(serialized_size(*m), serialize_model(*m).size());
}

TEST_F(Export, KeepsWhatTheFileSaysOfValuesThatNothingComputes) {
  Model m;
  m.opsets = {{"", 17}};
  const Type type = Type::tensor(DType::kFloat32, Shape({1000}));
  Value* x = m.graph->add_input("x", type);
  Value *y = m.graph->add_value("y", type), *dead = m.graph->add_value("dead", type);
  m.graph->add_node("Relu", {x}, {y});
  m.graph->add_node("Neg", {x}, {dead});
  m.graph->outputs = {y};
  Graph other;
  onnx::add_field(13, value_info_message(*other.add_value("ghost", type)).bytes(), m.graph->extra_fields);
  save_model(m, path("a.onnx"));
  const auto loaded = load_model(path("a.onnx"));
  EXPECT_EQ(loaded->graph->find_value("ghost"), nullptr);
  ASSERT_NE(content("a.onnx").find("dead"), std::string::npos);
  // An edit takes the entries of what it removes, and no others.
  cleanup(*loaded);
  save_model(*loaded, path("b.onnx"));
  EXPECT_NE(content("b.onnx").find("ghost"), std::string::npos);
  EXPECT_EQ(content("b.onnx").find("dead"), std::string::npos);
}

}  // namespace
}  // namespace assay
