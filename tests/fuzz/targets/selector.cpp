// Selectors of tensors and nodes, on the command line and in files of plugins.
#include "naming/selector.h"

#include "assay/error.h"
#include "fuzz/targets/target.h"
#include "graph/import.h"

namespace assay::fuzz::target_selector {
namespace {

Model& model() {
  static const std::shared_ptr<Model> m = parse_text(
      R"(<ir_version: 10, opset_import: ["" : 20, "my" : 1]>
g (float[2] x, bool c, float[2] "conv_*") => (float[2] y) <float[2] "a::b" = {1, 2}> {
  [n_1] t = Add (x, "a::b")
  [if_3] u = If (c) <then_branch = th () => (z) { [inner] z = Relu (t) }, else_branch = el () => (z) { z = Neg (t) }>
  [""] v = my.f (u)
  [conv_22] y = Identity (v)
}
<domain: "my", opset_import: ["" : 20]> f (q) => (r) { r = Relu (q) })",
      "fixed");
  return *m;
}

void run(std::string_view input) {
  for (int i = 0; i < 3; ++i) try {
      if (i == 0) select_values(model(), input);
      if (i == 1) select_nodes(model(), input);
      if (i == 2) select_inputs(model(), input);
    } catch (const Error& e) {
      if (e.code() == ErrorCode::kInternal) throw;
    }
}

std::vector<std::string> seeds() {
  return {"x",
          "conv_*",
          "n_?",
          "[a-c]*",
          "re:conv_[0-9]+",
          "re:(a|b)*c",
          "op:Relu",
          "op:my.f",
          "if_3::inner",
          "if_3::then_branch::z",
          "function:f::r",
          "if_3::re:.*",
          "a::b",
          "::",
          "op:",
          "re:",
          "[[:alpha:]]",
          "[!a-",
          "*a*b*c*d*e*f*g*h*",
          "function:::::"};
}

constexpr std::string_view kWords[] = {
    "re:", "op:", "::",     "function:", "*",           "?",    "[",     "]",  "[!",   "[[:digit:]]",
    "(",   ")",   "{1000}", "|",         "then_branch", "if_3", "conv_", ".*", "\\pL", "(?i)"};

}  // namespace

constinit const Target def = {
    .name = "selector", .run = run, .seeds = seeds, .words = kWords, .most_bytes = 256};

}  // namespace assay::fuzz::target_selector
