#include "graph/to_text.h"

#include <gtest/gtest.h>

#include "graph/export.h"
#include "graph/import.h"

namespace assay::to_text_test {
namespace {

constexpr std::string_view kModel = R"(<
  ir_version: 10,
  opset_import: ["" : 21]
>
main (float[N, 2] x) => (float[N, 2] y)
  <
    float[2] w = {1.5, -0},
    float[N, 2] h>
{
  [first] h = Mul (x, w)
  [second] y = LeakyRelu <alpha: float = 0.25> (h)
}
)";

TEST(ToText, WritesWhatItRead) { EXPECT_EQ(to_text(*parse_text(kModel, "kModel")), kModel); }

TEST(ToText, LeavesElementsOut) {
  const auto model = parse_text(kModel, "kModel");
  const std::string text = to_text(*model, {.max_elements = 1});
  EXPECT_NE(text.find("float[2] w = {1.5, ...}"), std::string::npos) << text;
  EXPECT_NE(to_text(*model, {.max_elements = 0}).find("float[2] w = {...}"), std::string::npos);
  try {
    parse_text(text, "the text");
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("this text leaves elements out"), std::string::npos) << e.what();
  }
}

TEST(ToText, MissingDataAreShownOrRefused) {
  const auto model = parse_text(kModel, "kModel");
  Value* w = model->graph->find_value("w");
  w->clear_tensor();
  w->set_missing();
  EXPECT_NE(to_text(*model, {.max_elements = 10}).find("float[2] w = {...}"), std::string::npos);
  EXPECT_THROW(to_text(*model), Error);
}

TEST(ToText, WritesPlacesInsteadOfElements) {
  const auto model = parse_text(kModel, "kModel");
  const std::string text = to_text(*model, {.place = [](const Value&) { return TextPlace{"w.bin", 64, 8}; }});
  EXPECT_NE(text.find(R"(float[2] w = ["location": "w.bin", "offset": "64", "length": "8"])"),
            std::string::npos)
      << text;
}

TEST(ToText, QuotesWhatWouldBeReadOtherwise) {
  Model model;
  Graph& g = *model.graph;
  Value* x = g.add_input("float", Type::tensor(DType::kFloat32, Dims{Dim::symbol("2*N"), Dim()}));
  Value* y = g.add_value("a b");
  g.add_node("Op", {x, nullptr}, {y}, {{"inf", std::string("a\n\"b\"")}}, "1st", "com.my-domain");
  g.outputs = {y};
  const std::string text = to_text(model);
  EXPECT_NE(text.find("\"\" (float[\"2*N\", ?] \"float\") => (\"a b\")"), std::string::npos) << text;
  EXPECT_NE(text.find("[\"1st\"] \"a b\" = com.\"my-domain\".Op <\"inf\": string = \"a\n\\\"b\\\"\"> "
                      "(\"float\", \"\")"),
            std::string::npos)
      << text;
  EXPECT_EQ(serialize_model(*parse_text(text, "the text")), serialize_model(model));
}

TEST(ToText, KeepsWhatTheSyntaxHasNoPlaceFor) {
  const auto model = parse_text(kModel, "kModel");
  Node& node = *model->graph->nodes()[0];
  node.doc_string = "two\nlines \"quoted\" \\";
  node.metadata = {{"key", ""}};
  model->graph->doc_string = "graph";
  model->graph->quantization_annotations = {{"w", {{"SCALE_TENSOR", "s"}, {"ZERO_POINT_TENSOR", "z"}}},
                                            {"x", {}}};
  model->graph->find_value("h")->metadata = {{"a", "b"}};
  model->graph->inputs[0]->type.denotation = "IMAGE";
  const std::string text = to_text(*model);
  EXPECT_EQ(serialize_model(*parse_text(text, "the text")), serialize_model(*model)) << text;
}

}  // namespace
}  // namespace assay::to_text_test
