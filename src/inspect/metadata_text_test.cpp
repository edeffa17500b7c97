#include "inspect/metadata_text.h"

#include <gtest/gtest.h>

#include "assay/edit.h"

namespace assay {
namespace {

TEST(MetadataText, WhatAModelSaysOfItself) {
  Model model;
  model.ir_version = 8;
  EXPECT_EQ(metadata_text(model, true), "IR Version: 8");
  model.ir_version = 10;
  model.producer_name = "maker";
  model.producer_version = "1.2";
  model.domain = "org.example";
  model.model_version = 3;
  model.doc_string = "first\nsecond";
  model.metadata = {{"author", "A"}, {"license", "one\ntwo"}};
  EXPECT_EQ(metadata_text(model, false),
            "IR Version: 10 | Producer: maker 1.2 | Domain: org.example | Model Version: 3\n"
            "Description:\n    first\n    second\n"
            "Metadata (2):\n    author: A\n    license:\n        one\n        two");
}

TEST(MetadataText, GraphsNodesAndTensorsWithDetails) {
  Model model;
  Graph& g = *model.graph;
  g.name = "g";
  g.metadata = {{"of", "graph"}};
  Value* x = g.add_input("x", Type::tensor(DType::kFloat32, Shape{2}));
  x->metadata = {{"of", "tensor"}};
  Node* n = g.add_node("Relu", {x}, {g.add_value("y")}, {}, "n");
  n->metadata = {{"of", "node"}};
  EXPECT_EQ(metadata_text(model, false), "IR Version: 8");
  const std::string text = metadata_text(model, true);
  for (const char* part : {"Metadata of graph 'g':\n    of: graph", "Metadata of tensor 'x':\n    of: tensor",
                           "Metadata of node 'n' (Relu):\n    of: node"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
}

}  // namespace
}  // namespace assay
