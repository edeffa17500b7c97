// How tactics are chosen: a timing cache, an algorithm selector, the explanation, the inspector.
#include "assay/builder.h"
#include "network.h"

using namespace assay;

namespace {

/// Prints what there is to choose from and takes the first.
class First : public AlgorithmSelector {
 public:
  std::optional<std::vector<size_t>> select_algorithms(const std::vector<std::string>& nodes,
                                                       const std::vector<Algorithm>& algorithms) override {
    fmt::print("{}:", nodes.front());
    for (const Algorithm& a : algorithms) fmt::print(" {} ({:.2f} us)", a.name, a.seconds * 1e6);
    fmt::print("\n");
    return std::vector<size_t>{0};
  }
  void report_algorithms(const std::vector<std::string>& nodes, const Algorithm& chosen) override {
    fmt::print("  {} and {} more run on {}\n", nodes.front(), nodes.size() - 1, chosen.name);
    ++reported;
  }
  int reported = 0;
};

}  // namespace

int main() {
  return example::run([] {
    const Runtime runtime({.threads = 1});
    BuilderConfig config;
    OptimizationProfile profile;
    profile.set_shape("x", {16, 4}, {16, 4}, {16, 4});
    config.profiles = {profile};
    config.timing_cache = std::make_shared<TimingCache>(runtime.timing_environment());
    const Builder builder(runtime);
    const std::string plan = builder.build_serialized_network(example::network(), config);
    fmt::print("{} times measured\n{}", config.timing_cache->size(), builder.explanation());
    // With the same cache the same plan, byte by byte, and nothing is measured.
    config.use_timing_cache_only = true;
    example::check(builder.build_serialized_network(example::network(), config) == plan,
                   "two builds with one cache differ");

    First first;
    config.algorithm_selector = &first;
    const auto engine = builder.build_engine(example::network(), config);
    example::check(first.reported > 0, "the selector was not told");
    fmt::print("{}", EngineInspector(engine).engine_information(EngineInspector::Format::kOneLine));
  });
}
