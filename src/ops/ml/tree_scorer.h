// Tree ensembles prepared for many runs: the forest is laid out for interleaved walks.
//
// The Model (ops/ml/scored_op.h) has two members more:
//
//   Forest forest; Aggregate aggregate;
//   size_t finish<N>(std::span<N> scores) const;  // of the votes of a row makes its scores; gives its class
#pragma once

#include <algorithm>
#include <optional>

#include "ops/ml/forest.h"
#include "ops/ml/scored_op.h"

namespace assay {

template <typename Model>
class TreeScorer final : public RowScorer {
 public:
  /// `scores`: their type; kUndefined: the input's.
  TreeScorer(const OpContext& c, DType scores) : c_(c), model_(c), scores_(scores) {}

  void prepare(DType dtype) override { is_narrow(dtype) ? compile(singles_) : compile(doubles_); }

  std::vector<Tensor> run(const Tensor& x) override {
    return is_narrow(x.dtype())
               ? run(x.dtype() == DType::kFloat32 ? x : convert(x, DType::kFloat32), x.dtype(), singles_)
               : run(as_numbers(c_, 0, x), x.dtype(), doubles_);
  }

 private:
  static bool is_narrow(DType dtype) { return is_float(dtype) && bit_width(dtype) <= 32; }

  /// A forest for the type, laid out once.
  template <typename T>
  struct Compiled {
    bool tried = false;
    std::optional<kernels::CompiledForest<T>> forest;
  };

  template <typename T>
  void compile(Compiled<T>& compiled) {
    if (!compiled.tried) compiled.forest = kernels::CompiledForest<T>::compile(model_.forest.source());
    compiled.tried = true;
  }

  template <typename T>
  std::vector<Tensor> run(const Tensor& x, DType stored, Compiled<T>& compiled) {
    const FeatureShape shape(c_, x.shape());
    if (features_ != shape.count) model_.take_features(c_, shape.count);
    features_ = shape.count;
    compile(compiled);
    const int64_t width = model_.width();
    Tensor scores = Tensor::allocate(DType::kFloat64, {shape.rows, width});
    std::vector<size_t> classes(static_cast<size_t>(shape.rows));
    const T* const from = x.data<T>();
    auto* const to = scores.mutable_data<double>();
    // A branch costs about as much as ten multiplications.
    const int64_t depth = compiled.forest ? compiled.forest->depth() : 1;
    const int64_t cost = std::max<int64_t>(1, 10 * depth * static_cast<int64_t>(model_.forest.tree_count()));
    const auto vote = [&](int64_t first, int64_t last) {
      vote_rows(compiled, from + first * shape.count, last - first, shape.count, shape.rows == 1,
                to + first * width);
      for (int64_t r = first; r < last; ++r)
        classes[static_cast<size_t>(r)] =
            model_.finish(std::span<double>(to + r * width, static_cast<size_t>(width)));
    };
    if (shape.rows == 1)
      vote(0, 1);
    else
      parallel_for(shape.rows, std::max<int64_t>(1, kRowWork / cost), vote);
    std::vector<Tensor> outputs;
    if (model_.classes() != nullptr) outputs.push_back(model_.classes()->pick(classes));
    outputs.push_back(convert(scores, scores_ == DType::kUndefined ? stored : scores_));
    return outputs;
  }

  /// `is_alone`: the run has no other row, and its trees may be distributed among the threads.
  template <typename T>
  void vote_rows(const Compiled<T>& compiled, const T* x, int64_t rows, int64_t features, bool is_alone,
                 double* scores) {
    const int64_t width = model_.width();
    if (!compiled.forest) {  // shared branches
      std::vector<double> row(static_cast<size_t>(features));
      for (int64_t r = 0; r < rows; ++r) {
        std::copy_n(x + r * features, features, row.begin());
        model_.forest.vote(row.data(), model_.aggregate,
                           std::span<double>(scores + r * width, static_cast<size_t>(width)));
      }
    } else if (is_alone) {
      leaves_.resize(compiled.forest->tree_count());
      compiled.forest->vote_in_parallel(x, model_.aggregate, width, scores, leaves_);
    } else {
      compiled.forest->vote(x, rows, features, model_.aggregate, width, scores);
    }
  }

  /// The least multiplications per thread.
  static constexpr int64_t kRowWork = 65536;

  OpContext c_;
  Model model_;
  DType scores_;
  int64_t features_ = -1;
  Compiled<float> singles_;
  Compiled<double> doubles_;
  std::vector<uint32_t> leaves_;
};

}  // namespace assay
