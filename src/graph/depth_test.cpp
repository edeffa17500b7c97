// Subgraphs inside each other, deeper than the stack: in files and in constructed graphs.
#include <gtest/gtest.h>

#include <functional>

#include "graph/clone.h"
#include "graph/export.h"
#include "graph/import.h"
#include "graph/order.h"
#include "onnx/messages.h"

namespace assay::depth_test {
namespace {

constexpr int kHostile = 10000;

void append_varint(std::string& out, size_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(0x80 | (value & 0x7f));
  out += static_cast<char>(value);
}

std::string field(uint32_t number, const std::string& text) {
  std::string out;
  append_varint(out, number << 3 | 2);
  append_varint(out, text.size());
  return out + text;
}

/// The start of a field whose `size` bytes follow.
std::string opening(uint32_t number, size_t size) {
  std::string out;
  append_varint(out, number << 3 | 2);
  append_varint(out, size);
  return out;
}

/// A model file with an If inside an If, `depth` times. The inner part is last in each message, so that the
/// file can be written from the outside in.
std::string nested_file(int depth) {
  const std::string in_node = field(4, "If");
  std::string in_attribute = field(1, "then_branch");
  in_attribute += std::string("\xa0\x01\x05", 3);  // type: GRAPH
  std::vector<std::string> openings;
  size_t size = 0;  // of the graph at this level, from the innermost on
  for (int i = 0; i < depth; ++i) {
    const std::string graph = opening(6, size);
    size += graph.size() + in_attribute.size();
    const std::string attribute = opening(5, size);
    size += attribute.size() + in_node.size();
    const std::string node = opening(1, size);
    size += node.size();
    openings.push_back(node + in_node + attribute + in_attribute + graph);
  }
  std::string file = "\x08\x08" + opening(7, size);
  for (size_t i = openings.size(); i-- > 0;) file += openings[i];
  return file;
}

/// The same in memory, from the outside in; every level uses a value of the main graph.
std::shared_ptr<Model> nested_model(int depth) {
  auto model = std::make_shared<Model>();
  model->opsets = {{"", 17}};
  Value* c = model->graph->add_input("c", Type::tensor(DType::kBool, Shape{}));
  Graph* g = model->graph.get();
  for (int i = 0; i < depth; ++i) {
    auto sub = std::make_shared<Graph>();
    sub->set_parent(g);
    Value* y = g->add_value("y" + std::to_string(i));
    g->add_node("If", {c}, {y}, {{"then_branch", sub}});
    g->outputs = {y};
    g = sub.get();
  }
  g->outputs = {c};
  return model;
}

std::string error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& e) {
    return e.message();
  }
  return "";
}

constexpr const char* kRule = "subgraphs nest deeper than 32";

TEST(Depth, AFileMayNestAsDeepAsProtobufReads) {
  const std::string fits = nested_file(onnx::kMaxGraphDepth);
  EXPECT_NO_THROW(parse_model(fits, nullptr, "fits"));
  for (const int depth : {onnx::kMaxGraphDepth + 1, kHostile}) {
    const std::string deep = nested_file(depth);
    EXPECT_EQ(error_of([&] { parse_model(deep, nullptr, "deep"); }), kRule);
  }
}

TEST(Depth, WhatIsWrittenCanBeRead) {
  const std::string bytes = serialize_model(*nested_model(onnx::kMaxGraphDepth));
  EXPECT_NO_THROW(parse_model(bytes, nullptr, "model"));
}

TEST(Depth, ABuiltModelIsCheckedBeforeItIsWalked) {
  for (const int depth : {onnx::kMaxGraphDepth + 1, kHostile}) {
    const std::shared_ptr<Model> model = nested_model(depth);
    EXPECT_EQ(error_of([&] { check_depth(*model); }), kRule);
    EXPECT_EQ(error_of([&] { serialize_model(*model); }), kRule);
    EXPECT_EQ(error_of([&] { clone_model(*model); }), kRule);
  }
  EXPECT_NO_THROW(clone_model(*nested_model(onnx::kMaxGraphDepth)));
}

TEST(Depth, FunctionBodiesCount) {
  Model model;
  model.functions.emplace_back().body = std::move(nested_model(kHostile)->graph);
  EXPECT_EQ(error_of([&] { check_depth(model); }), kRule);
}

TEST(Depth, ADeepModelCanBeTakenDown) {
  std::shared_ptr<Model> model = nested_model(kHostile);
  model->graph->remove_node(model->graph->nodes()[0].get());
  EXPECT_TRUE(model->graph->find_value("c")->consumers().empty());
  model = nested_model(kHostile);
  // A subgraph may have another owner.
  const auto held =
      *model->graph->nodes()[0]->find_attribute("then_branch")->get_if<std::shared_ptr<Graph>>();
  EXPECT_EQ(held->nodes().size(), 1u);
}

}  // namespace
}  // namespace assay::depth_test
