// Walks over nodes and values and prints their neighbours.
//
//     ex05_traverse FOLDER    writes neighbours.txt: per node `node NAME: NODES BEFORE | NODES BEHIND`, per
//     value
//                             `tensor NAME: PRODUCER | CONSUMERS | TENSORS BEFORE | TENSORS BEHIND`
#include <cstdio>

#include "example.h"

using namespace assay;

namespace {

void append(std::string& text, const std::string& name) {
  if (!text.empty() && text.back() != ' ') text += ',';
  text += name;
}

std::string node_line(const Node& node) {
  std::string line = fmt::format("node {}: ", node.name);
  for (size_t i = 0; i < node.inputs().size(); ++i)
    if (const Node* before = producer_node(node, i)) append(line, before->name);
  line += " | ";
  for (size_t i = 0; const Node* behind = consumer_node(node, i); ++i) append(line, behind->name);
  return line;
}

std::string value_line(const Value& value) {
  std::string producer, consumers, before, behind;
  if (const Node* node = value.producer()) {
    producer = node->name;
    for (const Value* v : node->inputs()) append(before, v->name());
  }
  for (const Node* node : value.consumers()) {
    append(consumers, node->name);
    for (const Value* v : node->outputs()) append(behind, v->name());
  }
  return fmt::format("tensor {}: {} | {} | {} | {}", value.name(), producer, consumers, before, behind);
}

}  // namespace

int main(int argc, char** argv) {
  return example::run(argc, argv, [](const std::string& folder) {
    const Model model = example::identity_add_identity(Type::tensor(DType::kFloat32));
    std::string text;
    for (const auto& node : model.graph->nodes()) text += node_line(*node) + "\n";
    for (const Value* value : tensors(*model.graph)) text += value_line(*value) + "\n";
    std::FILE* file = std::fopen((folder + "/neighbours.txt").c_str(), "w");
    require(file != nullptr, ErrorCode::kIo, "cannot write into the folder '{}'", folder);
    std::fputs(text.c_str(), file);
    std::fclose(file);
  });
}
