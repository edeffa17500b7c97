#include "naming/source_notes.h"

#include <gtest/gtest.h>

#include "graph/import.h"
#include "onnx/writer.h"

namespace assay::source_notes_test {
namespace {

const Metadata kNote = {{"stack", "line"}};  // 9 bytes

void annotate(Graph& g) {
  g.doc_string = "kept";
  g.metadata = kNote;
  for (const auto& n : g.nodes()) {
    n->doc_string = "here";
    n->metadata = kNote;
    for (Attribute& a : n->attributes) {
      a.doc_string = "att";
      if (const auto* body = a.get_if<std::shared_ptr<Graph>>()) annotate(**body);
    }
  }
  for (const auto& v : g.values()) {
    v->doc_string = "doc";
    v->metadata = kNote;
  }
}

TEST(SourceNotes, GoFromNodesAndWhatIsBetweenThem) {
  const std::shared_ptr<Model> model = parse_text(
      "<ir_version: 10, opset_import: [\"\" : 17, \"local\" : 1], metadata_props: [\"names\": \"cat\"]>\n"
      "g (bool c, float[2] x) => (float[2] y) { h = local.f (x) y = If (c) <"
      "then_branch = t () => (float[2] p) { p = Relu (h) }, else_branch = e () => (float[2] q) { q = Neg (h) "
      "}> }"
      "<domain: \"local\", opset_import: [\"\" : 17]> f (a) => (b) { b = Abs (a) }",
      "test");
  annotate(*model->graph);
  annotate(*model->functions.at(0).body);
  // Five nodes, two attributes, the values c, x, y, h, p, q, a and b, the last five of which are not the main
  // graph's inputs or outputs, and four graphs.
  EXPECT_EQ(remove_source_notes(*model), 5 * (4 + 9) + 2 * 3 + 8 * 9 + 5 * 3 + 4 * 9);
  EXPECT_EQ(remove_source_notes(*model), 0);
  const Graph& g = *model->graph;
  EXPECT_EQ(g.inputs[1]->doc_string, "doc");
  EXPECT_EQ(g.outputs[0]->doc_string, "doc");
  EXPECT_TRUE(g.inputs[1]->metadata.empty());
  EXPECT_TRUE(g.metadata.empty());
  EXPECT_EQ(g.doc_string, "kept");
  EXPECT_EQ(model->metadata.size(), 1U);
  EXPECT_TRUE(g.nodes()[1]->metadata.empty());
  EXPECT_TRUE(g.find_value("h")->metadata.empty());
}

TEST(SourceNotes, GoFromEntriesOfInitializers) {
  const auto model = parse_text(
      "<ir_version: 10, opset_import: [\"\" : 17]> g (float[2] x) => (float[2] y) <float[2] w = {1, 2}, "
      "float[2] h> "
      "{ h = Mul (x, w) y = Relu (h) }",
      "test");
  Graph& g = *model->graph;
  g.value_info_order = {g.find_value("w"), g.find_value("h")};
  onnx::MessageWriter entry;
  entry.text(1, "w");
  entry.text(3, "a weight");
  onnx::MessageWriter fields;
  fields.message(13, entry);
  fields.text(99, "future");
  g.extra_fields = fields.bytes();
  EXPECT_GT(remove_source_notes(*model), 0);
  EXPECT_EQ(g.value_info_order, std::vector<Value*>{g.find_value("h")});
  EXPECT_EQ(g.extra_fields.find("a weight"), std::string::npos);
  EXPECT_NE(g.extra_fields.find("future"), std::string::npos);
}

}  // namespace
}  // namespace assay::source_notes_test
