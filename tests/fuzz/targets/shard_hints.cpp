#include <unordered_set>

#include "assay/error.h"
#include "base/log.h"
#include "fuzz/targets/target.h"
#include "shard/context_parallel.h"
#include "shard/suggest.h"
#include "shard/tensor_parallel.h"

namespace assay::fuzz::target_shard_hints {
namespace {

/// Attention of q, k and v, of which nothing says the shape of the last.
std::shared_ptr<Model> attention() {
  auto m = std::make_shared<Model>();
  m->opsets = {{"", 17}};
  Graph& g = *m->graph;
  const Type type = Type::tensor(DType::kFloat32, Dims{2, Dim::symbol("seq_len"), 4});
  Value *q = g.add_input("q", type), *k = g.add_input("k", type),
        *v = g.add_input("v", Type::tensor(DType::kFloat32));
  const auto add = [&](const char* op, std::vector<Value*> in, const char* name,
                       AttributeList attributes = {}) {
    Value* out = g.add_value(name, Type::tensor(DType::kFloat32));
    g.add_node(op, std::move(in), {out}, std::move(attributes), name);
    return out;
  };
  Value* kt = add("Transpose", {k}, "kt", {{"perm", std::vector<int64_t>{0, 2, 1}}});
  Value* y = add("MatMul", {add("Softmax", {add("MatMul", {q, kt}, "s")}, "p"), v}, "y");
  y->type = type;
  g.outputs = {y};
  return m;
}

/// Whatever hints say, the graph that they give is one: sorted, with the names it had.
void shard(const ShardHints& hints) {
  const auto m = attention();
  ShardNames names(*m->graph);
  if (hints.parallelism == Parallelism::kTensor) {
    shard_tensors(*m, hints, names);
    return;
  }
  shard_context(*m, hints, 0, names);
  std::unordered_set<const Value*> known(m->graph->inputs.begin(), m->graph->inputs.end());
  for (const auto& n : m->graph->nodes()) {
    for (const Value* v : n->inputs())
      require(known.contains(v), ErrorCode::kInternal, "{} comes too early", n->label());
    known.insert(n->outputs().begin(), n->outputs().end());
  }
  require(m->graph->outputs.at(0)->name() == "y", ErrorCode::kInternal, "the output has another name");
}

void run(std::string_view input) {
  const log::Capture quiet;
  const ShardHints hints = parse_hints(input, "hints.json");
  const std::string text = hints_text(hints);
  require(hints_text(parse_hints(text, "hints.json")) == text, ErrorCode::kInternal,
          "hints are read otherwise than written");
  shard(hints);
}

std::vector<std::string> seeds() {
  const log::Capture quiet;
  HintOptions native{.i_rank = 3, .kv_rank = 3}, fused = native;
  native.k_idx = 2;
  native.v_idx = native.i_idx = 1;
  native.collectives.nb_rank = 2;
  fused.fused = FusedAttention{.k_shuffle = Permutation{0, 2, 1}};
  const auto m = attention();
  return {
      hints_text(suggest_hints(*m->graph, native)), hints_text(suggest_hints(*m->graph, fused)),
      R"({"parallelism": "CP", "group_size": 2, "root": 0, "groups": [1], "attention_layers": [], "inputs": [], "outputs": [],
              "k_seq_len_idx": 0, "v_seq_len_idx": 0, "kv_rank": null, "reduce_scatter_reduce_op": "sum"})"};
}

constexpr std::string_view kWords[] = {"{",
                                       "}",
                                       "[",
                                       "]",
                                       ",",
                                       "null",
                                       "true",
                                       "false",
                                       "-1",
                                       "0",
                                       "1",
                                       "2",
                                       "3",
                                       "9223372036854775807",
                                       "\"q\"",
                                       "\"k\"",
                                       "\"kt\"",
                                       "\"s\"",
                                       "\"v\"",
                                       "\"y\"",
                                       "\"TP\"",
                                       "\"CP\"",
                                       "\"gather_q\": true",
                                       "\"rank\": ",
                                       "\"nb_rank\": ",
                                       "\"name\": "};

}  // namespace

constinit const Target def = {.name = "shard_hints", .run = run, .seeds = seeds, .words = kWords};

}  // namespace assay::fuzz::target_shard_hints
