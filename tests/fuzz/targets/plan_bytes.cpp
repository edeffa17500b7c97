// Plan files changed anywhere: a plan that still loads must equal the one written.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "fuzz/targets/plans.h"
#include "fuzz/targets/target.h"

namespace assay::fuzz::target_plan_bytes {
namespace {

void run(std::string_view input) {
  const engine::SavedEngine e = engine::parse_engine(input, nullptr, "the input", plan_environment_here());
  const std::vector<std::string>& seeds = plan_seeds();
  if (std::find(seeds.begin(), seeds.end(), engine::serialize_engine(e)) != seeds.end()) return;
  std::fprintf(stderr, "a damaged plan was loaded\n");
  std::abort();
}

}  // namespace

constinit const Target def = {
    .name = "plan_bytes", .run = run, .seeds = [] { return plan_seeds(); }, .most_bytes = 65536};

}  // namespace assay::fuzz::target_plan_bytes
