#include "cli/options/shard_hints.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "cli/values.h"
#include "run/python_parse.h"
#include "shard/attention.h"

namespace assay::cli {
namespace {

constexpr const char* kOldReduceOp = "--scatter-op";

Option number(const char* name, const char* help) {
  return {.names = {name}, .help = help, .metavar = "N", .kind = ValueKind::kInteger};
}

Option shuffle(const char* name, const char* tensor) {
  return {.names = {name},
          .help = fmt::format(
              "A permutation by which {} is transposed before the one node of --cp-type fused.", tensor),
          .arity = Arity::kAny,
          .metavar = "DIM",
          .kind = ValueKind::kInteger};
}

std::vector<Option> options() {
  const std::vector<std::string> reductions(kReduceOps.begin(), kReduceOps.end());
  std::vector<std::string> patterns;
  for (int i = 0; i < kAttentionPatterns; ++i) patterns.push_back(std::to_string(i));
  return {
      {.names = {"--parallelism"},
       .help = "CP: every rank has a part of the sequence; TP: of the weights of attention layers and gated "
               "MLPs. Default: CP.",
       .choices = {"CP", "TP"}},
      number("--root", "The root rank; default: -1, none."),
      number("--gpus", "Devices that take part; default: 0, all."),
      {.names = {"--groups"},
       .help = "NCCL groups; default: all.",
       .arity = Arity::kAny,
       .metavar = "N",
       .kind = ValueKind::kInteger},
      {.names = {"--cp-type"},
       .help = "native: k and v of attention layers are gathered; fused: each layer becomes one node, "
               "Attention. Default: native.",
       .choices = {"native", "fused"}},
      {.names = {"--no-suggest-io"},
       .help = "Do not list the inputs and outputs that attention layers depend on and lead to.",
       .arity = Arity::kNone},
      number("--i-idx",
             "The sequence dimension of inputs where none is named sequence_length or seq_len; default: 0."),
      number("--o-idx", "The same of outputs."),
      number("--k-idx", "The sequence dimension of k, as the first MatMul takes it; default: 0."),
      number("--v-idx", "The sequence dimension of v; default: 0."),
      number("--i-rank", "The rank of inputs where the model does not say it."),
      number("--o-rank", "The same of outputs."),
      number("--kv-rank", "The same of k and v."),
      {.names = {"--reduce-op"},
       .help = "How reduce_scatter combines what the ranks have; default: max, which keeps equal tensors as "
               "they are.",
       .choices = reductions},
      {.names = {kOldReduceOp}, .choices = reductions},
      {.names = {"--attention-pattern"},
       .help = "What an attention layer looks like. 0: MatMul, Softmax, MatMul; 1: the same with q and k "
               "scaled by what is computed "
               "from the shape of q. The hints do not hold it. Default: 0.",
       .kind = ValueKind::kInteger,
       .choices = patterns},
      shuffle("--q-shuffle", "q"),
      shuffle("--k-shuffle", "k"),
      shuffle("--v-shuffle", "v"),
      {.names = {"--is-causal"}, .help = "The one node of --cp-type fused is causal.", .arity = Arity::kNone},
      number("--nb-rank", "Ranks in all; default: 1."),
  };
}

std::vector<int64_t> read_numbers(const ParsedArgs& args, const char* name) {
  std::vector<int64_t> numbers;
  for (const std::string& word : args.list(name).value_or(std::vector<std::string>()))
    numbers.push_back(require_at_least(name, python_int(word).value(), 0));
  return numbers;
}

std::optional<Permutation> read_permutation(const ParsedArgs& args, const char* name) {
  if (!args.has(name)) return std::nullopt;
  const Permutation p = read_numbers(args, name);
  Permutation sorted = p;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i)
    if (sorted[i] != static_cast<int64_t>(i))
      log::critical(ErrorCode::kInvalidArgument, "{}: {} is no permutation of the dimensions 0 to {}.", name,
                    fmt::join(p, " "), p.size() - 1);
  return p;
}

int64_t read_number(const ParsedArgs& args, const char* name, int64_t fallback, int64_t least) {
  return require_at_least(name, args.integer(name).value_or(fallback), least);
}

std::optional<int64_t> read_rank(const ParsedArgs& args, const char* name) {
  if (!args.has(name)) return std::nullopt;
  const int64_t rank = read_number(args, name, 0, 0);
  if (rank > kMaxHintRank)
    log::critical(ErrorCode::kInvalidArgument, "{}: {} is too large; no tensor has more than {} dimensions.",
                  name, rank, kMaxHintRank);
  return rank;
}

std::string read_reduce_op(const ParsedArgs& args) {
  if (const auto old = args.text(kOldReduceOp)) {
    log::warning("`{}` is called `--reduce-op` in newer releases; it does the same.", kOldReduceOp);
    return *old;
  }
  return args.text("--reduce-op").value_or("max");
}

}  // namespace

void add_shard_hint_options(ArgParser& parser) { parser.add_group("Shard Hints").options = options(); }

HintOptions read_shard_hint_options(const ParsedArgs& args) {
  HintOptions out;
  if (args.text("--parallelism") == "TP") out.parallelism = Parallelism::kTensor;
  out.collectives = {.group_size = read_number(args, "--gpus", 0, 0),
                     .root = read_number(args, "--root", -1, -1),
                     .nb_rank = read_number(args, "--nb-rank", 1, 1),
                     .reduce_op = read_reduce_op(args),
                     .groups = read_numbers(args, "--groups")};
  FusedAttention fused{.is_causal = args.has("--is-causal"),
                       .q_shuffle = read_permutation(args, "--q-shuffle"),
                       .k_shuffle = read_permutation(args, "--k-shuffle"),
                       .v_shuffle = read_permutation(args, "--v-shuffle"),
                       .nb_rank = out.collectives.nb_rank};
  if (args.text("--cp-type") == "fused") out.fused = std::move(fused);
  out.suggest_io = !args.has("--no-suggest-io");
  out.i_idx = read_number(args, "--i-idx", 0, 0);
  out.o_idx = read_number(args, "--o-idx", 0, 0);
  out.k_idx = read_number(args, "--k-idx", 0, 0);
  out.v_idx = read_number(args, "--v-idx", 0, 0);
  out.i_rank = read_rank(args, "--i-rank");
  out.o_rank = read_rank(args, "--o-rank");
  out.kv_rank = read_rank(args, "--kv-rank");
  out.attention_pattern = static_cast<int>(args.integer("--attention-pattern").value_or(0));
  return out;
}

void warn_about_unused_hint_options(const ParsedArgs& args) {
  for (const Option& o : options())
    if (o.names.front() != "--attention-pattern" && args.has(o.names.front()))
      log::warning("{} has no effect with a hints file, which says it; it is ignored.", o.names.front());
}

}  // namespace assay::cli
