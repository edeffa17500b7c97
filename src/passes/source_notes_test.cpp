#include "passes/source_notes.h"

#include <gtest/gtest.h>

#include "graph/import.h"

namespace assay {
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
  for (const auto& v : g.values()) v->metadata = kNote;
}

TEST(SourceNotes, GoFromNodesAndWhatIsBetweenThem) {
  const std::shared_ptr<Model> model =
      parse_text("<ir_version: 10, opset_import: [\"\" : 17, \"local\" : 1], metadata_props: [\"names\": \"cat\"]>\n"
                 "g (bool c, float[2] x) => (float[2] y) { h = local.f (x) y = If (c) <"
                 "then_branch = t () => (float[2] p) { p = Relu (h) }, else_branch = e () => (float[2] q) { q = Neg (h) }> }"
                 "<domain: \"local\", opset_import: [\"\" : 17]> f (a) => (b) { b = Abs (a) }",
                 "test");
  annotate(*model->graph);
  annotate(*model->functions.at(0).body);
  // Five nodes, two attributes, and the values h, p, q, a and b.
  EXPECT_EQ(remove_source_notes(*model), 5 * (4 + 9) + 2 * 3 + 5 * 9);
  EXPECT_EQ(remove_source_notes(*model), 0);
  const Graph& g = *model->graph;
  EXPECT_EQ(g.inputs[1]->metadata, kNote);
  EXPECT_EQ(g.outputs[0]->metadata, kNote);
  EXPECT_EQ(g.metadata, kNote);
  EXPECT_EQ(g.doc_string, "kept");
  EXPECT_EQ(model->metadata.size(), 1U);
  EXPECT_TRUE(g.nodes()[1]->metadata.empty());
  EXPECT_TRUE(g.find_value("h")->metadata.empty());
}

}  // namespace
}  // namespace assay
