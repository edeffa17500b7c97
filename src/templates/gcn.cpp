// A graph convolutional network (Kipf and Welling, "Semi-Supervised Classification with Graph Convolutional
// Networks", 2017) in the sizes of the Cora citation graph, as PyTorch Geometric exports it: messages by
// Gather, sums by ScatterElements. The graph, random here, is part of the model, as the paper's is; its
// features are the input.
#include <cmath>

#include "templates/layers.h"
#include "templates/template_list.h"
#include "tensor/random_weights.h"

namespace assay::template_gcn {
namespace {

constexpr int64_t kNodes = 2708, kFeatures = 1433, kHidden = 16, kClasses = 7;
constexpr int64_t kLinks = 5278;                 ///< undirected
constexpr int64_t kEdges = 2 * kLinks + kNodes;  ///< both directions, and each node to itself

/// Sources and targets of the edges, and their weights by the degrees of both ends.
struct Edges {
  std::vector<int64_t> sources, targets;
  std::vector<float> weights;
};

Edges edges() {
  Edges e;
  const Tensor ends = random_weights(0, "links", {2, kLinks}, Init::uniform(kNodes / 2.0, kNodes / 2.0));
  const auto end = [&](int64_t side, int64_t i) {
    return static_cast<int64_t>(ends.data<float>()[side * kLinks + i]);
  };
  for (int64_t i = 0; i < kLinks; ++i)
    for (const int64_t side : {0, 1}) {
      e.sources.push_back(end(side, i));
      e.targets.push_back(end(1 - side, i));
    }
  for (int64_t n = 0; n < kNodes; ++n) {
    e.sources.push_back(n);
    e.targets.push_back(n);
  }
  std::vector<float> degree(kNodes, 0);
  for (const int64_t t : e.targets) degree[static_cast<size_t>(t)] += 1;
  for (size_t i = 0; i < e.sources.size(); ++i)
    e.weights.push_back(
        1 / std::sqrt(degree[static_cast<size_t>(e.sources[i])] * degree[static_cast<size_t>(e.targets[i])]));
  return e;
}

/// Values shared by all layers.
struct CitationGraph {
  Value *sources, *targets, *weights;
};

Value* graph_conv(TemplateBuilder& b, const Scope& s, Value* x, const CitationGraph& graph, int64_t inputs,
                  int64_t outputs, double gain) {
  x = product(b, s.child("lin"), x, inputs, outputs,
              Init::normal(gain / std::sqrt(static_cast<double>(inputs))));
  Value* messages = b.node(s, "Gather", {x, graph.sources}, {{"axis", int64_t{1}}});
  messages = b.node(s, "Mul", {graph.weights, messages});
  Value* places = b.node(s, "Expand", {graph.targets, b.node(s, "Shape", {messages})});
  Value* zeros = b.node(s, "ConstantOfShape", {b.node(s, "Shape", {x})},
                        {{"value", UnalignedTensor(Tensor::vector(std::vector<float>{0}))}});
  Value* sums = b.node(s, "ScatterElements", {zeros, places, messages},
                       {{"axis", int64_t{1}}, {"reduction", std::string("add")}});
  return b.node(s, "Add", {sums, b.weight(s, "bias", {outputs}, Init::normal(0.05))});
}

std::shared_ptr<Model> build(const TemplateOptions& options) {
  TemplateBuilder b(options, "gcn");
  const Scope root;
  Value* x = b.input("x", DType::kFloat32, {b.batch(), kNodes, kFeatures});
  const Edges e = edges();
  const CitationGraph graph = {b.ints(root, e.sources),
                               b.constant(root, Tensor::from({1, kEdges, 1}, e.targets)),
                               b.constant(root, Tensor::from({1, kEdges, 1}, e.weights))};
  x = b.node(root, "Relu", {graph_conv(b, root.child("conv1"), x, graph, kFeatures, kHidden, 2)});
  x = graph_conv(b, root.child("conv2"), x, graph, kHidden, kClasses, 3);
  x = b.node(root, "LogSoftmax", {x}, {{"axis", int64_t{-1}}});
  b.output(x, "output", DType::kFloat32, {b.batch(), kNodes, kClasses});
  return b.finish();
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "gcn",
    .summary =
        "graph convolution: 2708 nodes, messages by Gather and ScatterElements (Kipf and Welling, 2017)",
    .min_opset = 16,
    .build = build};

}  // namespace assay::template_gcn
