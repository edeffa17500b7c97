#include "fuzz/targets/models.h"

#include <algorithm>

#include "assay/edit.h"
#include "fuzz/mutate_model.h"
#include "graph/export.h"
#include "graph/import.h"
#include "ops/node_facts.h"
#include "ops/work.h"

namespace assay::fuzz {
namespace {

/// Steps (ops/work.h) that a model may take: some tenths of a second with sanitizers.
constexpr int64_t kMaxWork = int64_t{1} << 22;

/// Models found by fuzzing and by people, in text form: nodes that lack inputs in every place, head counts
/// that do not divide, loops without end, missing axes and outputs, flags of another type, lists of lists.
constexpr const char* kFound[] = {
    R"(<ir_version: 8, opset_import: ["" : 20]> g () => (float[2] y) { y = Unique("") })",
    R"(<ir_version: 8, opset_import: ["" : 17]> g () => (float[2] y) { y = Neg() })",
    R"(<ir_version: 8, opset_import: ["" : 17]> g () => (float[2] y) <float[2] c = {1, 2}> { y = Add(c) })",
    R"(<ir_version: 8, opset_import: ["" : 17, "l" : 1]> g () => (float[2] y) <float[2] c = {1, 2}> { y = l.f(c) }
<opset_import: ["" : 17, "l" : 1], domain: "l"> f (a) => (b) { b = Neg() })",
    R"(<ir_version: 8, opset_import: ["" : 17]> g () => (float[2] y) <float[2] c = {1, 2}, bool t = {1}> {
  y = If <then_branch: graph = a () => (float[2] p) { p = Add(c) }, else_branch: graph = b () => (float[2] q) { q = Neg() }>(t) })",
    R"(<ir_version: 10, opset_import: ["" : 23]> g (float[1,2,3,4] q, float[1,4,3,4] k, float[1,4,3,4] v) => (float[1,2,3,4] y) {
  y = Attention(q, k, v) })",
    R"(<ir_version: 8, opset_import: ["" : 17]> g () => (float y) <int64 turns = {4611686018427387904}, float start = {0}> {
  y = Loop <body: graph = b (int64 i, bool go, float s) => (bool again, float t) { again = Identity(go) t = Add(s, s) }>(turns, "", start) })",
    R"(<ir_version: 8, opset_import: ["" : 17]> g () => (float[m, n] y) <int64[2] shape = {1048576, 1048576}> { y = ConstantOfShape(shape) })",
    R"(<ir_version: 8, opset_import: ["" : 13]> g (float[1, 2, 3] x) => (float[1, 2, 3] y) { y = ReduceMean <axes = [3, 0, 3]> (x) })",
    R"(<ir_version: 8, opset_import: ["" : 7]> g () => (o, p) <bool b = {1}, float[1] f = {1}> { o, p = Shape(b, b, f) })",
    R"(<ir_version: 8, opset_import: ["" : 22]> g () => (o, v) <bfloat16 b = {0}> { o = HardSigmoid(b) v, m = Dropout(o, o, o) })",
    R"(<ir_version: 8, opset_import: ["" : 13]> g (float[1, 2, 3] x) => (float[1, 2, 3] y) { y = Transpose <perm = [-1, 0, 7]> (x) })",
    R"(<ir_version: 8, opset_import: ["" : 18]> g () => (o) <bfloat16[0, 4, 3, 2] x = {}, int64[0, 4, 3, 2] s = {}> { o = CenterCropPad(x, s) })",
    R"(<ir_version: 8, opset_import: ["" : 13, "l" : 1]> g () => (o) <float c = {1}> { o = l.f(c, c) }
<opset_import: ["" : 13], domain: "l"> f (a) => () { b = Neg(a) })",
};

}  // namespace

std::vector<std::string> model_seeds() {
  std::vector<std::string> list;
  for (const char* text : kFound) list.push_back(serialize_model(*parse_text(text, "a seed")));
  Random r(7);
  while (list.size() < 600) {
    try {
      list.push_back(serialize_model(*random_model(r)));
    } catch (const Error&) {  // some random cases are too large
    }
    if (list.back().size() > 4096) list.pop_back();
  }
  return list;
}

std::shared_ptr<Model> model_of(std::string_view input) { return parse_model(input, nullptr, "the input"); }

void mutate_model_file(std::string& input, Random& r) {
  try {
    // Imported views may be of the input: it stays until the model is written.
    const std::string before = input;
    std::shared_ptr<Model> model = r.chance(4) ? random_model(r) : model_of(before);
    mutate_model(model, r);
    input = serialize_model(*model);
  } catch (const Error&) {
    if (!r.chance(30)) return;
    try {
      input = serialize_model(*random_model(r));
    } catch (const Error&) {
    }
  }
}

void require_quick(Model& model, bool may_loop) {
  require(may_loop || !has_loop(model), ErrorCode::kUnsupported, "a loop may take any time");
  int64_t work = 0;
  std::vector<const Graph*> graphs = {model.graph.get()};
  for (const Graph* g : subgraphs(*model.graph, true)) graphs.push_back(g);
  for (const Function& f : model.functions) {
    graphs.push_back(f.body.get());
    for (const Graph* g : subgraphs(*f.body, true)) graphs.push_back(g);
  }
  for (const Graph* g : graphs)
    for (const auto& n : g->nodes()) {
      work += std::min(work_estimate(*n, find_op(*n, model)), kMaxWork + 1);
      require(work <= kMaxWork, ErrorCode::kUnsupported, "it may take long");
    }
}

}  // namespace assay::fuzz
