// A custom target: building, timing, running
// and loading use it in place of the CPU's.
#include "engine/target/target.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <regex>
#include <set>

#include "assay/builder.h"
#include "engine/objects/state.h"
#include "engine/plan/file_bytes.h"
#include "engine/tactics/tactic_set.h"
#include "ops/infer.h"
#include "templates/template_set.h"

namespace assay::target_test {
namespace {

using engine::Layout;

constexpr double kTick = 0.001;

/// The CPU's kernels and memory; the rest is its own.
class TestTarget : public engine::Target {
 public:
  std::string name() const override { return "test"; }
  std::string fingerprint() const override { return "a processor of this test"; }
  std::string timing_fingerprint() const override { return "times of this test"; }
  std::vector<Layout> layouts() const override { return layouts_; }
  const engine::TacticSet& tactics() const override { return tactics_; }
  std::unique_ptr<engine::MemoryBlock> allocate(size_t bytes) const override {
    ++blocks;
    return engine::cpu_target()->allocate(bytes);
  }
  /// Every question takes as long.
  double seconds() const override { return kTick * static_cast<double>(++ticks_); }
  void flush(const void* data, size_t bytes) const override {
    flushed += bytes;
    engine::cpu_target()->flush(data, bytes);
  }

  std::vector<Layout> layouts_ = engine::cpu_target()->layouts();
  engine::TacticSet tactics_ = engine::cpu_target()->tactics();
  mutable std::atomic<size_t> blocks = 0, flushed = 0;

 private:
  mutable std::atomic<int64_t> ticks_ = 0;
};

std::shared_ptr<Model> network() {
  auto model = build_template(find_template("mnist-cnn"), {});
  infer_shapes(*model);
  return model;
}

struct Ground {
  std::shared_ptr<TestTarget> target = std::make_shared<TestTarget>();
  Runtime runtime{RuntimeOptions{.threads = 1, .target = target}};

  std::shared_ptr<Engine> build(BuilderConfig config = {.optimization_level = 0}) const {
    return Builder(runtime).build_engine(network(), config);
  }
  const engine::Plan& plan(const Engine& built) const { return *built.state().saved.plans.at(0).plan; }
};

std::vector<Tensor> run(Engine& built, Profiler* profiler = nullptr) {
  const auto context = built.create_execution_context();
  context->set_profiler(profiler);
  Tensor x = Tensor::zeros(DType::kFloat32, *known_shape(*built.inputs()[0].type.dims));
  for (int64_t i = 0; i < x.numel(); ++i) x.mutable_data<float>()[i] = static_cast<float>(i % 9) / 8;
  return context->infer(std::vector<Tensor>{x});
}

TEST(Target, TheFingerprintOfThisMachineNamesItsArchitecture) {
  const std::string found = engine::cpu_target()->fingerprint();
  EXPECT_TRUE(found.starts_with(engine::cpu_target()->name() + " with oneDNN ")) << found;
  EXPECT_EQ(Runtime().environment(), found);
}

TEST(Target, APlanOfAnotherOneIsRefusedWithBothNames) {
  const Ground ground;
  const Runtime here(RuntimeOptions{.threads = 1});
  const auto message = [](const Runtime& runtime, const std::string& plan) {
    try {
      runtime.deserialize_engine(plan);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("it was loaded");
  };
  const std::string own = ground.build()->serialize(),
                    native = Builder(here).build_engine(network(), {.optimization_level = 0})->serialize(),
                    cpu = engine::cpu_target()->fingerprint();
  EXPECT_NE(message(here, own).find("the plan was built for a processor of this test, but this is " + cpu),
            std::string::npos)
      << message(here, own);
  EXPECT_NE(message(ground.runtime, native)
                .find("the plan was built for " + cpu + ", but this is a processor of this test"),
            std::string::npos)
      << message(ground.runtime, native);
  EXPECT_EQ(message(ground.runtime, own), "it was loaded");
}

TEST(Target, APlanThatCannotServeHereIsRefusedWithTheWayToANewOne) {
  const Ground ground;
  const auto remedy_key = [&](const Runtime& runtime, const std::string& plan) {
    try {
      runtime.deserialize_engine(plan);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kUnsupported) << e.what();
      return e.remedy_key();
    }
    return std::string("it was loaded");
  };
  std::string own = ground.build()->serialize();
  EXPECT_EQ(remedy_key(Runtime(RuntimeOptions{.threads = 1}), own), "rebuild-plan");
  --own[offsetof(engine::FileHeader, version)];  // of the version before this
  EXPECT_EQ(remedy_key(ground.runtime, own), "rebuild-plan");
  ++own[offsetof(engine::FileHeader, version)];
  EXPECT_EQ(remedy_key(ground.runtime, own), "it was loaded");
  std::swap(own[offsetof(engine::FileHeader, byte_order)], own[offsetof(engine::FileHeader, byte_order) + 3]);
  EXPECT_EQ(remedy_key(ground.runtime, own), "rebuild-plan");
}

TEST(Target, ItsClockAndItsFlushTimeCandidates) {
  const Ground ground;
  EXPECT_EQ(ground.runtime.timing_environment(), "times of this test, 1 thread(s)");
  BuilderConfig config{.optimization_level = 1};
  config.timing_cache = std::make_shared<TimingCache>(ground.runtime.timing_environment());
  ground.build(config);
  ASSERT_GT(config.timing_cache->size(), 0U);
  const std::string text = config.timing_cache->str();
  const std::regex time(R"re(": (\d+),?\n)re");
  size_t times = 0;
  for (auto it = std::sregex_iterator(text.begin(), text.end(), time); it != std::sregex_iterator(); ++it) {
    if (it->str(1).size() < 3) continue;  // the version of the format
    EXPECT_EQ(it->str(1), "1000000");
    ++times;
  }
  EXPECT_EQ(times, config.timing_cache->size());
  EXPECT_GT(ground.target->flushed, 0U);
  EXPECT_GT(ground.target->blocks, 0U);
}

TEST(Target, ItsClockAndItsMemoryServeRuns) {
  struct Times final : Profiler {
    void report_layer_time(const std::string&, double milliseconds) override { all.push_back(milliseconds); }
    std::vector<double> all;
  } times;
  const Ground ground;
  const auto built = ground.build();
  EXPECT_EQ(ground.target->blocks, 0U);
  const std::vector<Tensor> outputs = run(*built, &times);
  EXPECT_EQ(ground.target->blocks, 1U);
  ASSERT_EQ(times.all.size(), ground.plan(*built).steps.size());
  for (const double milliseconds : times.all) EXPECT_NEAR(milliseconds, kTick * 1e3, 1e-6);
  const Runtime here(RuntimeOptions{.threads = 1});
  const auto native = Builder(here).build_engine(network(), {.optimization_level = 0});
  EXPECT_TRUE(outputs[0].identical(run(*native)[0]));
}

/// Blocks of 8 are nobody's first choice where vectors are wider, and no choice at all where a target has
/// none.
TEST(Target, ItsLayoutsAreTheOnesThatAreProposed) {
  const auto variants = [](std::vector<Layout> layouts) {
    struct Seen final : AlgorithmSelector {
      std::optional<std::vector<size_t>> select_algorithms(const std::vector<std::string>&,
                                                           const std::vector<Algorithm>& choices) override {
        for (const Algorithm& a : choices)
          if (const size_t at = a.name.find("blocked"); at != std::string::npos)
            blocks.insert(a.name.substr(at));
        return std::nullopt;
      }
      void report_algorithms(const std::vector<std::string>&, const Algorithm&) override {}
      std::set<std::string> blocks;
    };
    const Ground ground;
    ground.target->layouts_ = std::move(layouts);
    BuilderConfig config{.optimization_level = 0};
    Seen seen;
    config.algorithm_selector = &seen;
    ground.build(config);
    return seen.blocks;
  };
  EXPECT_EQ(variants({}), std::set<std::string>());
  EXPECT_EQ(variants({Layout{8}}), std::set<std::string>{"blocked8"});
  EXPECT_EQ(variants({Layout{16}}), std::set<std::string>{"blocked16"});
}

TEST(Target, ItsTacticsAreTheOnlyOnes) {
  const Ground ground;
  ground.target->tactics_ = {};
  for (const engine::TacticDef* t : engine::cpu_target()->tactics().all())
    if (!t->name.starts_with("dnnl_") && t->name != "panel_conv") ground.target->tactics_.add(*t);
  const auto built = ground.build();
  for (const engine::Step& step : ground.plan(*built).steps) {
    EXPECT_FALSE(step.tactic.starts_with("dnnl_")) << step.tactic;
    EXPECT_NE(step.tactic, "panel_conv");
  }
  EXPECT_EQ(run(*built).size(), built->outputs().size());
}

}  // namespace
}  // namespace assay::target_test
