// Searches over engines of a network, with what is planted in them.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <random>
#include <string>

#include "base/temporary_folder.h"
#include "debug/engine_search.h"
#include "ops/infer.h"
#include "passes/pass_set.h"

namespace assay::debug {

/// A chain from `x` to its last value.
class ChainBuilder {
 public:
  explicit ChainBuilder(Shape shape) : shape_(std::move(shape)) {
    model->opsets = {{"", 18}};
    at_ = g.add_input("x", Type::tensor(DType::kFloat32, shape_));
  }
  ChainBuilder& node(const std::string& op, const std::string& name, AttributeList attributes = {}) {
    return append(op, name, {at_}, std::move(attributes));
  }
  /// With a second input of this number.
  ChainBuilder& with_number(const std::string& op, const std::string& name, float number) {
    return append(op, name, {at_, g.add_constant(name + "/w", Tensor::vector(std::vector<float>{number}))});
  }
  /// Sums of the elements up to each: what stays a step of its own.
  ChainBuilder& running_sum(const std::string& name) {
    return append("CumSum", name, {at_, g.add_constant(name + "/axis", Tensor::scalar<int64_t>(1))});
  }
  /// A product with a square matrix of numbers up to this size; `low`: the least, in proportion to it.
  ChainBuilder& product(const std::string& name, float size, float low = -1) {
    const int64_t n = shape_[static_cast<size_t>(shape_.rank() - 1)];
    Tensor w = Tensor::allocate(DType::kFloat32, Shape{n, n});
    std::uniform_real_distribution<float> uniform(low * size, size);
    for (float& x : w.mutable_span<float>()) x = uniform(random_);
    return append("MatMul", name, {at_, g.add_constant(name + "/w", std::move(w))});
  }
  std::shared_ptr<Model> done() {
    g.outputs = {at_};
    infer_shapes(*model);
    return model;
  }

  std::shared_ptr<Model> model = std::make_shared<Model>();
  Graph& g = *model->graph;

 private:
  ChainBuilder& append(const std::string& op, const std::string& name, std::vector<Value*> inputs,
                       AttributeList attributes = {}) {
    Value* y = g.add_value(name + "/y");
    g.add_node(op, std::move(inputs), {y}, std::move(attributes), name);
    at_ = y;
    return *this;
  }
  Shape shape_;
  Value* at_ = nullptr;
  std::mt19937 random_{7};
};

/// A search whose engines are checked in this process on drawn data.
class SearchedEngines {
 public:
  explicit SearchedEngines(std::shared_ptr<const Model> model, std::optional<AccuracyGoal> goal = {},
                           BuilderConfig config = {}, RuntimeOptions runtime = {}, int runs = 2) {
    runtime.threads = 1;
    if (runtime.passes == nullptr) runtime.passes = std::make_shared<PassSet>(built_in_passes());
    runtime.on_warning = [](const std::string&) {};
    options_ = {.runtime = runtime, .model = model, .building = {}, .candidate = {}};
    options_.building.config = std::move(config);
    check_options_ = {.model = model, .runs = runs, .goal = goal};
    begin();
  }
  /// As a new process that goes on.
  void begin() {
    check_.emplace(check_options_, LoaderCache(DataLoader(DataLoaderOptions{}, DataLoader::Report::kNo)));
    iterations_.emplace(IterationOptions{}, *check_, observer);
    journal_.emplace(Journal::resume(folder / "journal", {{"a", "search"}}));
    iterations_->use(*journal_);
    search_.emplace(options_, *iterations_, &*check_);
  }
  EngineSearch& operator()() { return *search_; }
  size_t checks() const { return iterations_->checks(); }

  TemporaryFolder folder;
  SearchObserver observer;

 private:
  EngineSearchOptions options_;
  EngineCheckOptions check_options_;
  std::optional<EngineCheck> check_;
  std::optional<Iterations> iterations_;
  std::optional<Journal> journal_;
  std::optional<EngineSearch> search_;
};

}  // namespace assay::debug
