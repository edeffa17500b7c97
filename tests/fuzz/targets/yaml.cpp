// Patterns of plugins, and the configurations of found matches.
#include "plugin/yaml.h"
#include "assay/error.h"
#include "fuzz/targets/target.h"
#include "plugin/config_file.h"
#include "plugin/pattern_file.h"

namespace assay::fuzz::target_yaml {
namespace {

/// Two readers get the same bytes; each may refuse them.
template <typename Read>
void try_to(Read read) {
  try {
    read();
  } catch (const Error& e) {
    if (e.code() == ErrorCode::kInternal) throw;
  }
}

void run(std::string_view input) {
  const std::string text(input);
  try_to([&] { parse_plugin_pattern(text, "f.yaml", "p"); });
  try_to([&] { parse_yaml(yaml_text({parse_yaml(text, "f.yaml")}), "again.yaml"); });
  plugin_config_text(parse_plugin_config(text, "f.yaml"));
}

std::vector<std::string> seeds() {
  return {R"(op: Toy
domain: com.example
inputs: [a]
constants: [k]
nodes:
  - {name: A, op: A, inputs: [a, k], outputs: [b]}
  - {name: B, op: B, inputs: [b, null], outputs: [c]}
outputs: [c]
where:
  - A.axis == -1 or B.axis == rank(a) - 1 and not (dtype(a) == 'float32')
  - sum(shape(a)[0:2]) // 2 % 3 >= len(value(k)) + -1.5e-3
replacement:
  inputs: [a, k]
  attributes: {scale: = value(k), heads: "= shape(a)[1]", mode: fast, literal: "==1", list: [1, 2.5, text]}
)",
          R"(name: p
op: P
instances:
- inputs: [q, k]
  outputs: [y]
  graph: if_3::then_branch
  attributes: {x: 1, y: [1.5, .inf, -.nan], z: !!str 3, t: yes, n: ~}
--- 
name: q
op: Q
instances: []
)",
          "a: &x [1, 2]\nb: *x\nc: &y {k: *x}\nd: [*y, *y]\n",
          "a: |\n  text\n  more\nb: >-\n  folded\n  text\n? c\n: 0x1F\n",
          // Found: text that aliases repeat was not counted.
          "a: &a " + std::string(200, 'x') +
              "\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c]\n",
          std::string(300, '['), std::string(300, '{'), "- " + std::string(100, '-')};
}

constexpr std::string_view kWords[] = {"op: ",
                                       "inputs: ",
                                       "nodes:\n",
                                       "outputs: ",
                                       "where:\n",
                                       "replacement:\n",
                                       "attributes: ",
                                       "&a ",
                                       "*a",
                                       "- ",
                                       "? ",
                                       ": ",
                                       "| ",
                                       "> ",
                                       "!!str ",
                                       "!!python/object:x ",
                                       "%YAML 1.1\n",
                                       "---\n",
                                       "...\n",
                                       "[",
                                       "]",
                                       "{",
                                       "}",
                                       "\"\\x1b\"",
                                       "'",
                                       "#",
                                       "0x",
                                       "0b1",
                                       "1e-5",
                                       ".inf",
                                       "1_000",
                                       "= ",
                                       "shape(",
                                       "value(",
                                       "rank(",
                                       " // ",
                                       " % ",
                                       " and ",
                                       " not ",
                                       " in ",
                                       "((((",
                                       "<<: *a\n",
                                       "\xEF\xBB\xBF"};

}  // namespace

constinit const Target def = {
    .name = "yaml", .run = run, .seeds = seeds, .words = kWords, .most_bytes = 2048};

}  // namespace assay::fuzz::target_yaml
