// The public objects of the engine, used as a program would.
#include <gtest/gtest.h>

#include <sys/wait.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "assay/builder.h"
#include "base/memory_limit.h"
#include "graph/import.h"
#include "ops/infer.h"
#include "templates/template_set.h"

namespace assay::objects_test {
namespace {

namespace fs = std::filesystem;

std::shared_ptr<Model> network(const char* name) {
  auto model = build_template(find_template(name), {});
  infer_shapes(*model);
  return model;
}

/// y = (x + w) * w, with an open batch.
std::shared_ptr<Model> open_network() {
  auto model = std::make_shared<Model>();
  model->opsets = {{"", 18}};
  Graph& g = *model->graph;
  g.name = "open";
  Value* x = g.add_input("x", Type::tensor(DType::kFloat32, Dims{Dim::symbol("batch"), Dim(4)}));
  Value* w = g.add_constant("w", Tensor::vector<float>({1, 2, 3, 4}));
  Value* s = g.add_value("s");
  g.add_node("Add", {x, w}, {s}, {}, "add");
  Value* y = g.add_value("y");
  g.add_node("Mul", {s, w}, {y}, {}, "mul");
  g.outputs = {y};
  infer_shapes(*model);
  return model;
}

OptimizationProfile batch_profile(int64_t min, int64_t opt, int64_t max) {
  OptimizationProfile profile;
  profile.set_shape("x", {min, 4}, {opt, 4}, {max, 4});
  return profile;
}

std::vector<Tensor> ramp(const Engine& engine) {
  std::vector<Tensor> inputs;
  for (const IoTensor& t : engine.inputs()) {
    Tensor x = Tensor::zeros(t.type.dtype, *known_shape(*t.type.dims));
    if (t.type.dtype == DType::kFloat32)
      for (int64_t i = 0; i < x.numel(); ++i)
        x.mutable_data<float>()[i] = static_cast<float>(i % 17) * 0.25F - 2;
    inputs.push_back(std::move(x));
  }
  return inputs;
}

void expect_identical(const std::vector<Tensor>& a, const std::vector<Tensor>& b, const std::string& what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(a[i].identical(b[i])) << what << ", output " << i;
}

template <typename F>
std::string message_of(F body) {
  try {
    body();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

class Objects : public testing::Test {
 protected:
  Objects() : folder_(fs::temp_directory_path() / ("objects_" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~Objects() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return folder_ / name; }

  Runtime runtime{{.threads = 2}};
  Builder builder{runtime};
  const BuilderConfig untimed{.optimization_level = 0};

 private:
  fs::path folder_;
};

TEST_F(Objects, APlanFromAFileGivesTheSameResults) {
  for (const char* name : {"mobilenet-v2", "lstm", "mlp"}) {
    const auto built = builder.build_engine(network(name), untimed);
    built->save(path("m.plan"));
    const auto loaded = runtime.load_engine(path("m.plan"));
    EXPECT_EQ(loaded->io_tensors().size(), built->io_tensors().size());
    const std::vector<Tensor> inputs = ramp(*built);
    expect_identical(built->create_execution_context()->infer(inputs),
                     loaded->create_execution_context()->infer(inputs), name);
    // What is saved again is the same file.
    EXPECT_EQ(loaded->serialize(), built->serialize()) << name;
  }
}

TEST_F(Objects, ContextsOfAnEngineTakeTheirArenasOnly) {
  builder.build_engine(network("mnist-cnn"), untimed)->save(path("m.plan"));
  for (const auto& engine :
       {builder.build_engine(network("mnist-cnn"), untimed), runtime.load_engine(path("m.plan"))}) {
    const std::vector<Tensor> inputs = ramp(*engine);
    const auto first = engine->create_execution_context();
    const std::vector<Tensor> expected = first->infer(inputs);
    constexpr int kContexts = 8;
    const int64_t before = memory_in_use();
    std::vector<std::unique_ptr<ExecutionContext>> more;
    for (int i = 0; i < kContexts; ++i) {
      more.push_back(engine->create_execution_context());
      expect_identical(more.back()->infer(inputs), expected, "another context");
    }
    const auto arena = static_cast<int64_t>(engine->device_memory_size());
    const int64_t each = (memory_in_use() - before) / kContexts;
    EXPECT_GE(each, arena);
    // Its steps, and what the system rounds an arena up to; the weights are 13 MB.
    EXPECT_LE(each, arena + (int64_t{1} << 20));
  }
}

TEST_F(Objects, ATableAtAnOddAddressIsNotCopied) {
  const Shape shape{4000, 64};
  const auto bytes = std::make_shared<std::vector<char>>(static_cast<size_t>(shape.numel()) * 4 + 1);
  for (int64_t i = 0; i < shape.numel(); ++i) {
    const auto x = static_cast<float>(i);
    std::memcpy(bytes->data() + 1 + i * 4, &x, sizeof x);
  }
  auto model = std::make_shared<Model>();
  model->opsets = {{"", 18}};
  Graph& g = *model->graph;
  Value* i = g.add_input("i", Type::tensor(DType::kInt64, Shape{3}));
  Value* table =
      g.add_constant("table", UnalignedTensor::view(DType::kFloat32, shape, bytes->data() + 1, bytes));
  g.outputs = {g.add_value("y")};
  g.add_node("Gather", {table, i}, {g.outputs[0]}, {}, "pick");
  infer_shapes(*model);
  const int64_t before = memory_in_use();
  const auto engine = builder.build_engine(model, untimed);
  const std::vector<Tensor> inputs = {Tensor::vector<int64_t>({3999, 0, -2})};
  const std::vector<Tensor> y = engine->create_execution_context()->infer(inputs);
  EXPECT_LT(memory_in_use() - before, shape.numel() * 4);
  for (int64_t c = 0; c < 64; ++c) {
    EXPECT_EQ(y[0].data<float>()[c], static_cast<float>(3999 * 64 + c));
    EXPECT_EQ(y[0].data<float>()[64 + c], static_cast<float>(c));
    EXPECT_EQ(y[0].data<float>()[128 + c], static_cast<float>(3998 * 64 + c));
  }
  engine->save(path("m.plan"));
  expect_identical(runtime.load_engine(path("m.plan"))->create_execution_context()->infer(inputs), y,
                   "loaded");
}

TEST_F(Objects, ABranchThatIsWrongAndNotTakenDoesNoHarm) {
  constexpr const char* kText = R"(<ir_version: 8, opset_import: ["" : 17]>
    g (bool c, float[5,3] x) => (float[N,3] y) {
      y = If (c) <
        then_branch = t () => (float[2,3] a) { a, b, d, e = Split <axis = 0> (x) },
        else_branch = f () => (float[5,3] a) { a = Relu (x) }>
    })";
  const std::shared_ptr<Model> model = parse_text(kText, "branches");
  infer_shapes(*model);
  const auto engine = builder.build_engine(model, untimed);
  const auto context = engine->create_execution_context();
  const Tensor x = Tensor::zeros(DType::kFloat32, {5, 3});
  EXPECT_EQ(context->infer(std::vector<Tensor>{Tensor::scalar(false), x})[0].shape(), Shape({5, 3}));
  EXPECT_NE(message_of([&] { context->infer(std::vector<Tensor>{Tensor::scalar(true), x}); }), "no error");
}

TEST_F(Objects, BodiesAreInThePlan) {
  constexpr const char* kText = R"(<ir_version: 8, opset_import: ["" : 17]>
    g (bool c, float[2,3] x) => (float[2,3] y, float[3,2,3] z) <float[3,3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9}, int64 n = {3}, bool yes = {1}> {
      y = If (c) <
        then_branch = t () => (float[2,3] a) { m = MatMul (x, w) a = Relu (m) },
        else_branch = e () => (float[2,3] b) { b = Neg (x) }
      >
      last, z = Loop (n, yes, x) <
        body = l (int64 i, bool go, float[2,3] v) => (bool go_on, float[2,3] next, float[2,3] scan) {
          go_on = Identity (go) next = Add (v, x) scan = Mul (next, next)
        }
      >
    })";
  const std::shared_ptr<Model> model = parse_text(kText, "bodies");
  infer_shapes(*model);
  const auto built = builder.build_engine(model, untimed);
  const auto loaded = runtime.deserialize_engine(built->serialize());
  const Tensor x = Tensor::from<float>({2, 3}, std::vector<float>{1, -2, 3, -4, 5, -6});
  for (const bool c : {false, true}) {
    const std::vector<Tensor> inputs = {Tensor::scalar(c), x};
    const std::vector<Tensor> results = loaded->create_execution_context()->infer(inputs);
    expect_identical(results, built->create_execution_context()->infer(inputs), "bodies");
    EXPECT_EQ(results[0].data<float>()[0], c ? 14 : -1);
    EXPECT_EQ(results[1].data<float>()[12], 16);
  }
}

TEST_F(Objects, TwoBuildsWithOneTimingCacheAreEqual) {
  BuilderConfig config{.optimization_level = 1};
  config.timing_cache = std::make_shared<TimingCache>(runtime.timing_environment());
  const std::string first = builder.build_serialized_network(network("mlp"), config);
  EXPECT_GT(config.timing_cache->size(), 0U);
  config.use_timing_cache_only = true;
  EXPECT_EQ(builder.build_serialized_network(network("mlp"), config), first);
}

TEST_F(Objects, ShapesStayInTheProfile) {
  BuilderConfig config = untimed;
  config.profiles = {batch_profile(1, 2, 3), batch_profile(4, 8, 8)};
  const auto engine = builder.build_engine(open_network(), config);
  const auto context = engine->create_execution_context();
  for (const int64_t n : {1, 2, 3}) {
    Tensor x = Tensor::zeros(DType::kFloat32, {n, 4});
    const auto y = context->infer(std::vector<Tensor>{x});
    ASSERT_EQ(y[0].shape(), (Shape{n, 4}));
    EXPECT_EQ(y[0].data<float>()[3], 16);
  }
  EXPECT_NE(message_of([&] {
              context->set_input_shape("x", {4, 4});
            }).find("outside of profile 0: from (1, 4) to (3, 4)"),
            std::string::npos);
  context->set_optimization_profile(1);
  context->set_input_shape("x", {4, 4});
  EXPECT_EQ(context->tensor_shape("y"), (Shape{4, 4}));
  EXPECT_NE(message_of([&] {
              context->set_input_shape("x", {4, 5});
            }).find("cannot have the shape (4, 5)"),
            std::string::npos);
  EXPECT_NE(message_of([&] { context->set_optimization_profile(2); }).find("no profile 2"),
            std::string::npos);
}

TEST_F(Objects, ProfilesThatContradictTheNetworkAreRefused) {
  BuilderConfig config = untimed;
  EXPECT_NE(message_of([&] {
              builder.build_engine(open_network(), config);
            }).find("the input 'x' of shape ('batch', 4) needs a range in profile 0"),
            std::string::npos);
  OptimizationProfile profile;
  profile.set_shape("x", {1, 5}, {1, 5}, {1, 5});
  config.profiles = {profile};
  EXPECT_NE(message_of([&] { builder.build_engine(open_network(), config); }).find("the network says 4"),
            std::string::npos);
  config.profiles = {batch_profile(1, 1, 1)};
  config.profiles[0].set_shape("nowhere", {1}, {1}, {1});
  EXPECT_NE(message_of([&] { builder.build_engine(open_network(), config); }).find("'nowhere'"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              profile.set_shape("x", {2, 4}, {1, 4}, {3, 4});
            }).find("min <= opt <= max"),
            std::string::npos);
}

TEST_F(Objects, BoundMemoryIsUsedAndChecked) {
  BuilderConfig config = untimed;
  config.profiles = {batch_profile(1, 2, 8)};
  const auto engine = builder.build_engine(open_network(), config);
  const auto context = engine->create_execution_context();
  alignas(64) float x[8] = {1, 1, 1, 1, 2, 2, 2, 2}, y[8] = {};
  EXPECT_NE(message_of([&] { context->execute(); }).find("input 'x' has no shape"), std::string::npos);
  context->set_input_shape("x", {2, 4});
  EXPECT_NE(message_of([&] { context->execute(); }).find("no memory bound"), std::string::npos);
  EXPECT_NE(message_of([&] { context->set_tensor_address("x", x, 16); }).find("needs 32 bytes, not 16"),
            std::string::npos);
  EXPECT_NE(message_of([&] { context->set_tensor_address("x", nullptr, 32); }).find("null"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              context->set_tensor_address("x", reinterpret_cast<char*>(x) + 1, 32);
            }).find("misaligned"),
            std::string::npos);
  EXPECT_NE(message_of([&] { context->set_tensor_address("z", x, 32); }).find("no input or output 'z'"),
            std::string::npos);
  context->set_tensor_address("x", x, sizeof x);
  EXPECT_NE(message_of([&] { context->execute(); }).find("output 'y' has no memory bound"),
            std::string::npos);
  EXPECT_NE(message_of([&] { context->set_tensor_address("y", y + 1, 16); }).find("multiple of 64"),
            std::string::npos);
  context->set_tensor_address("y", y, 16);
  EXPECT_NE(message_of([&] { context->execute(); }).find("output 'y' needs 32 bytes, 16 are bound"),
            std::string::npos);
  context->set_tensor_address("y", y, sizeof y);
  context->execute();
  EXPECT_EQ(y[3], (1 + 4) * 4);
  EXPECT_EQ(y[7], (2 + 4) * 4);
}

TEST_F(Objects, WeightsCanBeRefitted) {
  BuilderConfig config = untimed;
  config.profiles = {batch_profile(1, 2, 3)};
  config.is_refittable = true;
  auto engine = builder.build_engine(open_network(), config);
  const auto context = engine->create_execution_context();
  const std::vector<Tensor> x = {Tensor::zeros(DType::kFloat32, {1, 4})};
  EXPECT_EQ(context->infer(x)[0].data<float>()[1], 4);
  Refitter refitter(engine);
  EXPECT_EQ(refitter.all_weights(), std::vector<std::string>{"w"});
  EXPECT_NE(
      message_of([&] { refitter.set_weights("w", Tensor::vector<float>({1})); }).find("'w' are float32[4]"),
      std::string::npos);
  EXPECT_NE(
      message_of([&] { refitter.set_weights("v", Tensor::vector<float>({1})); }).find("no weights named 'v'"),
      std::string::npos);
  refitter.set_weights("w", Tensor::vector<float>({10, 20, 30, 40}));
  refitter.refit();
  EXPECT_EQ(context->infer(x)[0].data<float>()[1], 400) << "a context that was there before";
  EXPECT_EQ(engine->create_execution_context()->infer(x)[0].data<float>()[1], 400);
  // As if it had been built so.
  engine->save(path("r.plan"));
  EXPECT_EQ(runtime.load_engine(path("r.plan"))->create_execution_context()->infer(x)[0].data<float>()[1],
            400);
}

TEST_F(Objects, AStrippedPlanNeedsItsWeights) {
  const auto model = network("mlp");
  const auto full = builder.build_engine(model, untimed);
  BuilderConfig config = untimed;
  config.strips_weights = true;
  builder.build_engine(model, config)->save(path("s.plan"));
  full->save(path("f.plan"));
  EXPECT_LT(fs::file_size(path("s.plan")), fs::file_size(path("f.plan")) / 4);
  const auto engine = runtime.load_engine(path("s.plan"));
  EXPECT_TRUE(engine->lacks_weights());
  EXPECT_NE(message_of([&] { engine->create_execution_context(); }).find("stripped of its weights"),
            std::string::npos);
  Refitter refitter(engine);
  EXPECT_NE(message_of([&] { refitter.refit(); }).find("still missing"), std::string::npos);
  for (const std::string& name : refitter.missing_weights())
    refitter.set_weights(name, model->graph->find_value(name)->tensor().aligned());
  refitter.refit();
  const std::vector<Tensor> inputs = ramp(*full);
  expect_identical(full->create_execution_context()->infer(inputs),
                   engine->create_execution_context()->infer(inputs), "stripped");
}

TEST_F(Objects, TapsShowValuesAndChangeNothing) {
  const auto engine = builder.build_engine(network("mobilenet-v2"), untimed);
  const std::vector<Tensor> inputs = ramp(*engine);
  const auto context = engine->create_execution_context();
  const std::vector<Tensor> plain = context->infer(inputs);
  std::map<std::string, Shape> shown;
  context->set_tap([&](const std::string& name, const Tensor& t) { shown[name] = t.shape(); });
  expect_identical(context->infer(inputs), plain, "tapped");
  EXPECT_GT(shown.size(), 20U);
  context->set_tap(
      [](const std::string&, const Tensor&) { throw Error(ErrorCode::kIo, "the disk is full"); });
  EXPECT_EQ(message_of([&] { context->infer(inputs); }), "the disk is full");
  context->set_tap({});
  expect_identical(context->infer(inputs), plain, "after taps");
}

TEST_F(Objects, ProfilersHearOfEveryStep) {
  class Times : public Profiler {
   public:
    void report_layer_time(const std::string& layer, double milliseconds) override {
      times[layer] += milliseconds;
    }
    std::map<std::string, double> times;
  } times;
  const auto engine = builder.build_engine(network("mlp"), untimed);
  const auto context = engine->create_execution_context();
  context->set_profiler(&times);
  context->infer(ramp(*engine));
  EXPECT_FALSE(times.times.empty());
  EXPECT_EQ(times.times.size(), EngineInspector(engine).layer_count());
}

TEST_F(Objects, StreamsKeepTheirOrderAndEventsMarkIt) {
  BuilderConfig config = untimed;
  config.profiles = {batch_profile(1, 1, 1)};
  const auto engine = builder.build_engine(open_network(), config);
  const auto first = engine->create_execution_context(), second = engine->create_execution_context();
  alignas(64) float x[4] = {0, 0, 0, 0}, y[16] = {}, z[16] = {};
  first->set_input_shape("x", {1, 4});
  first->set_tensor_address("x", x, sizeof x);
  first->set_tensor_address("y", y, sizeof y);
  second->set_input_shape("x", {1, 4});
  second->set_input_address("x", y, sizeof y);
  second->set_tensor_address("y", z, sizeof z);
  Stream a, b;
  Event begin, done;
  begin.record(a);
  first->enqueue(a);
  done.record(a);
  done.wait(b);
  second->enqueue(b);
  b.synchronize();
  EXPECT_EQ(y[1], 4);
  EXPECT_EQ(z[1], (4 + 2) * 2);
  EXPECT_GE(Event::elapsed_milliseconds(begin, done), 0);
  // Recorded runs can be repeated.
  a.begin_capture();
  first->enqueue(a);
  second->enqueue(a);
  const Recording recording = a.end_capture();
  x[1] = 1;
  for (int i = 0; i < 3; ++i) recording.launch(a);
  a.synchronize();
  EXPECT_EQ(z[1], ((1 + 2) * 2 + 2) * 2);
  // A failure reaches whoever waits, and nobody waits for ever.
  a.enqueue([] { throw Error(ErrorCode::kIo, "it failed"); });
  Event after;
  after.record(a);
  after.synchronize();
  EXPECT_EQ(message_of([&] { a.synchronize(); }), "it failed");
  EXPECT_EQ(message_of([&] { a.synchronize(); }), "no error");
}

TEST_F(Objects, ContextsRunAtOnceInManyThreads) {
  BuilderConfig config = untimed;
  config.profiles = {batch_profile(1, 4, 64)};
  const auto engine = builder.build_engine(open_network(), config);
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const auto context = engine->create_execution_context();
      for (int round = 0; round < 50; ++round) {
        const int64_t n = 1 + (round * 7 + t * 13) % 64;
        const auto y = context->infer(std::vector<Tensor>{Tensor::zeros(DType::kFloat32, {n, 4})});
        wrong += y[0].shape() == Shape{n, 4} && y[0].data<float>()[4 * n - 1] == 16 ? 0 : 1;
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(Objects, ContextsOfConvolutionsAndProductsRunAtOnce) {
  for (const char* name : {"mobilenet-v2", "lstm"}) {
    const auto engine = builder.build_engine(network(name), untimed);
    const std::vector<Tensor> inputs = ramp(*engine);
    const std::vector<Tensor> alone = engine->create_execution_context()->infer(inputs);
    std::vector<std::thread> threads;
    std::atomic<int> wrong = 0;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        const auto context = engine->create_execution_context();
        for (int round = 0; round < 3; ++round) {
          const std::vector<Tensor> outputs = context->infer(inputs);
          for (size_t i = 0; i < outputs.size(); ++i) wrong += outputs[i].identical(alone[i]) ? 0 : 1;
        }
      });
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(wrong, 0) << name;
  }
}

TEST_F(Objects, OneContextInTwoThreadsIsRefused) {
  const auto engine = builder.build_engine(network("mobilenet-v2"), untimed);
  const auto context = engine->create_execution_context();
  const std::vector<Tensor> inputs = ramp(*engine);
  std::string message;
  context->set_tap([&, done = false](const std::string&, const Tensor&) mutable {
    if (!std::exchange(done, true))
      std::thread([&] { message = message_of([&] { context->infer(inputs); }); }).join();
  });
  context->infer(inputs);
  EXPECT_NE(message.find("another thread is using this execution context"), std::string::npos) << message;
}

TEST_F(Objects, ARunCanBeCancelled) {
  const auto engine = builder.build_engine(network("mobilenet-v2"), untimed);
  const auto context = engine->create_execution_context();
  const std::vector<Tensor> inputs = ramp(*engine);
  int steps = 0;
  context->set_tap([&](const std::string&, const Tensor&) {
    if (++steps == 3) context->cancel();
  });
  EXPECT_THROW(context->infer(inputs), Cancelled);
  EXPECT_EQ(steps, 3);
  context->set_tap({});
  EXPECT_EQ(context->infer(inputs).size(), 1U);
}

TEST_F(Objects, DeviceMemoryMayBeTheUsers) {
  const auto engine = builder.build_engine(network("mobilenet-v2"), untimed);
  const std::vector<Tensor> inputs = ramp(*engine);
  const std::vector<Tensor> plain = engine->create_execution_context()->infer(inputs);
  const auto context = engine->create_execution_context();
  Tensor memory = Tensor::allocate(DType::kUInt8, Shape{static_cast<int64_t>(engine->device_memory_size())});
  context->set_device_memory(memory.mutable_data(), memory.nbytes());
  expect_identical(context->infer(inputs), plain, "own memory");
  context->set_device_memory(memory.mutable_data(), memory.nbytes() / 2);
  EXPECT_NE(message_of([&] { context->infer(inputs); }).find("bytes of device memory"), std::string::npos);
}

TEST_F(Objects, TacticsCanBeDisabledPinnedAndSelected) {
  const auto model = network("mlp");
  BuilderConfig config = untimed;
  const auto tactics = [&](const Engine& e) {
    return EngineInspector(e.shared_from_this()).engine_information(EngineInspector::Format::kOneLine);
  };
  const std::string usual = tactics(*builder.build_engine(model, config));
  ASSERT_NE(usual.find("(gemv"), std::string::npos) << usual;
  config.disabled_tactics = {"gemv"};
  EXPECT_EQ(tactics(*builder.build_engine(model, config)).find("(gemv"), std::string::npos);
  class OnlyLast : public AlgorithmSelector {
   public:
    std::optional<std::vector<size_t>> select_algorithms(const std::vector<std::string>&,
                                                         const std::vector<Algorithm>& a) override {
      return std::vector<size_t>{a.size() - 1};
    }
    void report_algorithms(const std::vector<std::string>& nodes, const Algorithm& chosen) override {
      chosen_for[nodes.front()] = chosen.name;
    }
    std::map<std::string, std::string> chosen_for;
  } last;
  config.disabled_tactics.clear();
  config.algorithm_selector = &last;
  builder.build_engine(model, config);
  ASSERT_FALSE(last.chosen_for.empty());
  // A pin gives what a selector chose.
  config.algorithm_selector = nullptr;
  for (const auto& [node, name] : last.chosen_for) config.pinned_tactics[node] = name;
  const std::string pinned = tactics(*builder.build_engine(model, config));
  for (const auto& [node, name] : last.chosen_for)
    if (name != "view") {
      EXPECT_NE(pinned.find("(" + name), std::string::npos) << name << " in\n" << pinned;
    }
}

TEST_F(Objects, DamagedPlansAreRefused) {
  const std::string plan = builder.build_engine(network("mlp"), untimed)->serialize();
  const auto refusal = [&](const std::string& bytes) {
    return message_of([&] { runtime.deserialize_engine(bytes); });
  };
  EXPECT_EQ(refusal(plan), "no error");
  EXPECT_NE(refusal("").find("not a plan file"), std::string::npos);
  EXPECT_NE(refusal(plan.substr(0, 40)).find("not a plan file"), std::string::npos);
  EXPECT_NE(refusal(plan.substr(0, plan.size() - 1)).find("damaged"), std::string::npos);
  EXPECT_NE(refusal(plan + "x").find("damaged"), std::string::npos);
  for (const size_t at : {size_t{70}, plan.size() / 2, plan.size() - 1}) {
    std::string bytes = plan;
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    EXPECT_NE(refusal(bytes).find("checksum"), std::string::npos) << at << ": " << refusal(bytes);
  }
  std::string other = plan;
  other[8] = 1, other[11] = 4;
  EXPECT_NE(refusal(other).find("byte order"), std::string::npos);
  other = plan;
  other[12] = 99;
  EXPECT_NE(refusal(other).find("version 99"), std::string::npos);
  std::ofstream(path("bad.plan")) << plan.substr(0, plan.size() / 2);
  const std::string message = message_of([&] { runtime.load_engine(path("bad.plan")); });
  EXPECT_NE(message.find("bad.plan"), std::string::npos) << message;
}

}  // namespace
}  // namespace assay::objects_test
