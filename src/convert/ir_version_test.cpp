#include <gtest/gtest.h>

#include "assay/edit.h"
#include "convert/convert_opset.h"

namespace assay {
namespace {

std::string refusal(Model& model, int64_t version) {
  try {
    change_ir_version(model, version);
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

TEST(IrVersion, ChangesAloneWhereNothingNeedsMore) {
  Model model;
  model.ir_version = 10;
  model.graph->add_input("x", Type::tensor(DType::kFloat32, Shape{2}));
  for (const int64_t version : {3, 8, 14}) {
    EXPECT_EQ(refusal(model, version), "");
    EXPECT_EQ(model.ir_version, version);
  }
  EXPECT_NE(refusal(model, 2).find("they go from 3 to 14"), std::string::npos);
  EXPECT_NE(refusal(model, 15), "");
  EXPECT_EQ(model.ir_version, 14);
}

TEST(IrVersion, WhatNeedsANewerOneIsNamed) {
  Model model;
  model.ir_version = 10;
  Graph& g = *model.graph;
  Value* x = g.add_input("x", Type::tensor(DType::kInt4, Shape{2}));
  Node* n = g.add_node("Relu", {x}, {g.add_value("y")}, {}, "n");
  const std::string types = refusal(model, 9);
  EXPECT_NE(types.find("the type of 'x'"), std::string::npos) << types;
  EXPECT_NE(types.find("(IR version 10)"), std::string::npos);
  EXPECT_NE(types.find("The oldest that can is 10."), std::string::npos);
  x->type = Type::tensor(DType::kFloat32, Shape{2});
  EXPECT_EQ(refusal(model, 9), "");
  n->metadata = {{"k", "v"}};
  EXPECT_NE(refusal(model, 9).find("the metadata of node 'n' (Relu)"), std::string::npos);
  n->metadata.clear();
  Function& f = add_function(model, "f", "d");
  EXPECT_NE(refusal(model, 7).find("the function 'f' (IR version 8)"), std::string::npos);
  (void)f;
  EXPECT_EQ(refusal(model, 8), "");
}

}  // namespace
}  // namespace assay
