// Timing caches: what is read is written again as the same.
#include "assay/timing_cache.h"

#include <cstdio>
#include <cstdlib>

#include "fuzz/targets/target.h"

namespace assay::fuzz::target_timing_cache {
namespace {

void run(std::string_view input) {
  TimingCache cache("here");
  cache.set("a problem", 1e-6);
  cache.load(input_file(input));
  const std::string text = cache.str();
  TimingCache again("elsewhere");
  again.read(text, "the second time");
  if (again.str() == text && again.foreign_size() >= 1) return;
  std::fprintf(stderr, "a timing cache changes when it is written and read\n");
  std::abort();
}

std::vector<std::string> seeds() {
  TimingCache empty("here"), full("here"), other("another machine \"x\"");
  full.set("dnnl_conv:row float32(1, 8, 4, 4) 0123456789abcdef", 1.5e-6);
  full.set("gemv", 0);
  other.set("gemv", 1e-3);
  full.merge(other);
  return {empty.str(), full.str(),
          R"({"format": "assay timing cache", "version": 1, "nanoseconds": {"e": {"p": 1000000000000000}}})"};
}

constexpr std::string_view kWords[] = {"{",
                                       "}",
                                       "[",
                                       ",",
                                       ":",
                                       "\"",
                                       "null",
                                       "-1",
                                       "1e3",
                                       "9223372036854775808",
                                       "1000000000000001",
                                       "\"format\"",
                                       "\"assay timing cache\"",
                                       "\"version\"",
                                       "\"nanoseconds\"",
                                       "\\u0000",
                                       "\\ud800"};

}  // namespace

constinit const Target def = {.name = "timing_cache", .run = run, .seeds = seeds, .words = kWords};

}  // namespace assay::fuzz::target_timing_cache
