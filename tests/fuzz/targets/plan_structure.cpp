// Plan files changed anywhere, with checksums that are right again: FlatBuffers' verifier, the reader, the
// plan's verifier and the tactics are asked about every number.
#include "fuzz/targets/plans.h"
#include "fuzz/targets/target.h"

namespace assay::fuzz::target_plan_structure {
namespace {

void run(std::string_view input) {
  std::string plan(input);
  repair_checksums(plan);
  run_plan(plan);
}

/// Small changes of numbers in the structure, which follows the header.
void change_number(std::string& input, Random& r) {
  constexpr size_t kHeader = 64;
  if (input.size() <= kHeader + 8) return mutate_bytes(input, r, {});
  // Most of a small file is padding, and weights.
  const size_t end = std::min<size_t>(input.size(), kHeader + 4096) - 8;
  const size_t at = (kHeader + r.below(end - kHeader)) & ~size_t{r.chance(50) ? 7u : 3u};
  char& byte = input[at];
  if (r.chance(50))
    byte = static_cast<char>(r.below(r.chance(50) ? 20 : 256));
  else
    byte = static_cast<char>(byte + static_cast<char>(r.between(-2, 2)));
  if (r.chance(10)) input[at + 1 + r.below(7)] = static_cast<char>(r.below(256));
}

}  // namespace

constinit const Target def = {.name = "plan_structure",
                              .run = run,
                              .seeds = [] { return plan_seeds(); },
                              .mutate = change_number,
                              .most_bytes = 65536};

}  // namespace assay::fuzz::target_plan_structure
