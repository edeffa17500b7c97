#include "graph/export.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "assay/edit.h"
#include "assay/error.h"
#include "base/stale_temporaries.h"
#include "base/temporary_folder.h"
#include "base/temporary_name.h"
#include "graph/import.h"
#include "graph/value_info.h"
#include "onnx/messages.h"
#include "onnx/writer.h"
#include "tensor/convert.h"

namespace assay::export_test {
namespace {

namespace fs = std::filesystem;

class Export : public ::testing::Test {
 protected:
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
  static float weight(const Model& m) {
    return m.graph->find_value("w")->tensor().aligned().data<float>()[7];
  }
  /// The message of the error that saving gives.
  std::string refusal(const Model& m, const std::string& name, const ExportOptions& options = {}) const {
    try {
      save_model(m, path(name), options);
    } catch (const Error& e) {
      return e.what();
    }
    return "saved";
  }

  const TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
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
  EXPECT_EQ(fs::file_size(path("other/c")), 4032U + 64U)
      << "4000 bytes, filled up to whole blocks, and the mark";
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

TEST_F(Export, RefusesDataUnderTheModelsOwnName) {
  save_external("a.onnx", 1);
  const auto m = load_model(path("a.onnx"));
  EXPECT_NE(refusal(*m, "b.onnx", {.external_data = true, .external_data_path = "./b.onnx"})
                .find("the model itself"),
            std::string::npos);
  // A tensor with the name of the model gets another file.
  m->graph->find_value("w")->rename("b.onnx");
  EXPECT_EQ(refusal(*m, "b.onnx", {.external_data = true, .one_file_per_tensor = true}), "saved");
  EXPECT_TRUE(exists("b.onnx_1"));
  EXPECT_EQ(load_model(path("b.onnx"))->graph->find_value("b.onnx")->tensor().aligned().data<float>()[7], 1);
}

TEST_F(Export, NamesDataFilesAfterTensorsAsFarAsTheyAreFileNames) {
  Model m;
  m.opsets = {{"", 17}};
  const std::string u300 = [] {
    std::string text;
    for (int i = 0; i < 150; ++i) text += "\u00fc";
    return text;
  }();
  const std::vector<std::string> names = {std::string(300, 'a') + "1",
                                          std::string(300, 'a') + "2",
                                          u300,
                                          "..",
                                          "a/b",
                                          "a_b",
                                          "line\nbreak",
                                          "C:\\x",
                                          "plain"};
  float value = 0;
  for (const std::string& name : names)
    m.graph->outputs.push_back(m.graph->add_constant(name, Tensor::vector<float>({value++, 0})));
  save_model(m, path("m.onnx"),
             {.external_data = true, .external_data_threshold = 0, .one_file_per_tensor = true});
  const auto back = load_model(path("m.onnx"));
  for (size_t i = 0; i < names.size(); ++i)
    EXPECT_EQ(back->graph->find_value(names[i])->tensor().aligned().data<float>()[0], static_cast<float>(i))
        << names[i];
  for (const char* name : {"_..", "a_b", "a_b_1", "line_break", "C__x", "plain"})
    EXPECT_TRUE(exists(name)) << name;
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}),
            static_cast<std::ptrdiff_t>(names.size()) + 1);
}

TEST_F(Export, AModelKnowsItsDataFromAnothers) {
  for (const bool one_file_per_tensor : {false, true})
    for (const char* suffix : {".onnx", ".onnxtxt"}) {
      const std::string folder = std::string(one_file_per_tensor ? "many" : "one") + suffix;
      const auto save = [&](const std::string& name, float value) {
        save_external("source.onnx", value);
        save_model(*load_model(path("source.onnx")), path(name + suffix),
                   {.external_data = true,
                    .external_data_path = "data",
                    .one_file_per_tensor = one_file_per_tensor});
      };
      save(folder + "/old/m", 1);
      save(folder + "/new/m", 2);
      const std::string data = one_file_per_tensor ? "w" : "data";
      const auto outcome = [&](const std::string& model, const std::string& from) {
        fs::create_directories(path("pair"));
        fs::copy(path(folder + "/" + model + "/m" + suffix), path("pair/m") + suffix,
                 fs::copy_options::overwrite_existing);
        fs::copy(path(folder + "/" + from + "/" + data), path("pair/" + data),
                 fs::copy_options::overwrite_existing);
        try {
          return std::to_string(static_cast<int>(weight(*load_model(path("pair/m") + suffix))));
        } catch (const Error& e) {
          return std::string(e.what());
        }
      };
      EXPECT_EQ(outcome("old", "old"), "1") << folder;
      EXPECT_EQ(outcome("new", "new"), "2") << folder;
      EXPECT_NE(outcome("old", "new").find("those of another model"), std::string::npos)
          << outcome("old", "new");
      EXPECT_NE(outcome("new", "old").find("those of another model"), std::string::npos)
          << outcome("new", "old");
    }
}

TEST_F(Export, DataThatOthersWroteNeedNoMark) {
  save_external("a.onnx", 1);
  const auto m = load_model(path("a.onnx"));
  // Without the mark, as another program writes it; with more behind the mark, as another program appends it.
  fs::resize_file(path("a.onnx.data"), 4032);
  EXPECT_EQ(weight(*load_model(path("a.onnx"))), 1);
  save_external("a.onnx", 1);
  std::ofstream(path("a.onnx.data"), std::ios::app) << "more";
  EXPECT_EQ(weight(*load_model(path("a.onnx"))), 1);
}

TEST_F(Export, ASecondNameIsForTheModelsOwnDataOnly) {
  save_external("a.onnx", 1);
  fs::create_hard_link(path("a.onnx.data"), path("second"));
  EXPECT_EQ(weight(*load_model(path("a.onnx"))), 1) << "the checksum says that they are the model's";
  fs::remove(path("second"));
  std::ofstream(path("secret"), std::ios::binary) << std::string(4096, 's');
  fs::remove(path("a.onnx.data"));
  fs::create_hard_link(path("secret"), path("a.onnx.data"));
  try {
    load_model(path("a.onnx"));
    FAIL() << "loaded";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("has 2 names (hard links)"), std::string::npos) << e.what();
  }
}

/// As a save leaves it that was killed after the first of its two commits.
class InterruptedSave : public Export {
 protected:
  InterruptedSave() {
    save_external("a.onnx", 1);
    fresh_ = temporary_name(TemporaryKind::kData, 5, "a.onnx.data");
    fs::create_hard_link(path("a.onnx.data"), path(fresh_));
    save_external("b.onnx", 1);
    std::string bytes = content("b.onnx");
    // The message with the fresh name, made by the text form, where lengths do not matter.
    save_model(*load_model(path("a.onnx")), path("a.onnxtxt"));
    std::string text = content("a.onnxtxt");
    text.replace(text.find("a.onnx.data"), std::string("a.onnx.data").size(), fresh_);
    std::ofstream(path("a.onnxtxt")) << text;
    for (const char* name : {"b.onnx", "b.onnx.data"}) fs::remove(path(name));
  }
  std::string fresh_;
};

TEST_F(InterruptedSave, LoadsAndIsRepairedByTheNext) {
  EXPECT_EQ(weight(*load_model(path("a.onnxtxt"))), 1);
  remove_stale_temporaries(folder_.string());
  ASSERT_TRUE(exists(fresh_)) << "the model needs it";
  save_model(*load_model(path("a.onnxtxt")), path("a.onnxtxt"),
             {.external_data = true, .external_data_path = "a.onnx.data"});
  EXPECT_FALSE(exists(fresh_));
  EXPECT_EQ(weight(*load_model(path("a.onnxtxt"))), 1);
}

TEST_F(InterruptedSave, IsReplacedByAModelWithoutData) {
  const auto m = load_model(path("a.onnxtxt"));
  m->graph->find_value("w")->set_tensor(Tensor::vector<float>(std::vector<float>(1000, 5.0F)));
  EXPECT_EQ(refusal(*m, "a.onnxtxt"), "saved");
  EXPECT_FALSE(exists(fresh_));
  EXPECT_EQ(weight(*load_model(path("a.onnxtxt"))), 5);
}

TEST_F(InterruptedSave, OtherModelsGetDataOfTheirOwn) {
  save_model(*load_model(path("a.onnxtxt")), path("c.onnx"));
  EXPECT_EQ(content("c.onnx").find("assay-"), std::string::npos);
  EXPECT_GT(fs::file_size(path("c.onnx")), 4000U);
  EXPECT_TRUE(exists(fresh_));
}

TEST_F(Export, AModelThatIsReplacedWhileItIsReadIsOldOrNew) {
  save_external("a.onnx", 1);
  std::atomic<bool> is_done = false;
  std::thread writer([&] {
    for (int i = 0; i < 30; ++i) save_external("a.onnx", static_cast<float>(i % 7));
    is_done = true;
  });
  int reads = 0;
  while (!is_done) {
    const auto m = load_model(path("a.onnx"));
    const Tensor w = m->graph->find_value("w")->tensor().aligned();
    const auto values = w.span<float>();
    for (const float v : values) ASSERT_EQ(v, values[0]);
    ++reads;
  }
  writer.join();
  EXPECT_GT(reads, 1);
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

TEST_F(Export, DetachedInitializersAreThoseInUse) {
  // ONNX Runtime takes those that nothing uses out of the model before it looks for the data that it is given
  // by name.
  std::ofstream(path("m.onnxtxt"))
      << "<ir_version: 8, opset_import: [\"\" : 17]> g (float[2] x) => (float[2] y, float[2] shown) "
         "<float[2] used = {1, 2}, float[2] unused = {3, 4}, float[2] shown = {5, 6}> { y = Add (x, used) }";
  const auto model = load_model(path("m.onnxtxt"));
  const DetachedModel detached = detach_initializers(*model, 4);
  std::set<std::string> names, saved;
  for (const Value* v : detached.detached) names.insert(v->name());
  for (const auto& i : onnx::read_model(detached.bytes).graph.initializers) saved.insert(std::string(i.name));
  EXPECT_EQ(names, (std::set<std::string>{"shown", "used"}));
  EXPECT_EQ(saved, names);
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

/// A value_info entry by PyTorch's exporter, with metadata, is dropped when an edit makes it stale.
TEST_F(Export, WhatTheFileSaysOfConstantsStaysTrue) {
  Model m;
  m.opsets = {{"", 17}};
  Value* x = m.graph->add_input("x", Type::tensor(DType::kFloat32, Shape({2})));
  std::vector<Value*> sums = {x};
  Graph other;
  for (const char* name : {"narrowed", "longer", "kept"}) {
    Value* w = m.graph->add_constant(name, Tensor::vector(std::vector<float>{1, 2}));
    Value* y = m.graph->add_value(std::string("sum_") + name);
    m.graph->add_node("Add", {sums.back(), w}, {y});
    sums.push_back(y);
    Value* said = other.add_value(name, Type::tensor(DType::kFloat32, Shape({2})));
    said->metadata = {{"kind", std::string("PARAMETER-") + name}};
    onnx::add_field(13, value_info_message(*said).bytes(), m.graph->extra_fields);
  }
  m.graph->outputs = {sums.back()};
  save_model(m, path("a.onnx"));
  const auto loaded = load_model(path("a.onnx"));
  loaded->graph->find_value("narrowed")
      ->set_tensor(convert(Tensor::vector(std::vector<float>{1, 2}), DType::kFloat16));
  loaded->graph->find_value("longer")->set_tensor(Tensor::vector(std::vector<float>{1, 2, 3}));
  save_model(*loaded, path("b.onnx"));
  EXPECT_EQ(content("b.onnx").find("PARAMETER-narrowed"), std::string::npos);
  EXPECT_EQ(content("b.onnx").find("PARAMETER-longer"), std::string::npos);
  EXPECT_NE(content("b.onnx").find("PARAMETER-kept"), std::string::npos);
}

}  // namespace
}  // namespace assay::export_test
