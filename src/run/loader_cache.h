// Feeds every runner the same data, independent of names and declared types of its model's inputs.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "assay/backend.h"
#include "run/data_loader.h"
#include "run/data_source.h"
#include "run/results.h"

namespace assay {

/// Holds the data created for the first runner. Later runners get the same data, matched by name, cast and
/// reshaped as their models require, with a warning for each such step.
class LoaderCache {
 public:
  /// Data drawn for the first runner's inputs.
  explicit LoaderCache(DataLoader loader);
  /// Data read from files.
  explicit LoaderCache(InputData data);
  /// The first iteration of a source, in memory; the rest is not read.
  explicit LoaderCache(std::shared_ptr<DataSource> source) : source_(std::move(source)) {}
  /// All data of a source, kept in `store`, which must outlive this.
  LoaderCache(std::shared_ptr<DataSource> source, TensorStore& store);

  /// Sets the inputs of the next runner. The first call fixes the data. Throws Error.
  void set_inputs(std::vector<TensorInfo> inputs);
  /// Like the first call of set_inputs(), for data that another process has already fixed.
  void adopt_first_inputs(std::vector<TensorInfo> inputs);
  /// The inputs that fixed the data; empty before that.
  const std::vector<TensorInfo>& first_inputs() const { return first_inputs_; }

  int64_t size() const;
  /// The tensors for set_inputs()' inputs, in their order. Throws Error when the data cannot be made to fit.
  std::vector<Tensor> feed(int64_t iteration) const;
  /// The data of one iteration under the first runner's names.
  TensorList data(int64_t iteration) const;

 private:
  std::unique_ptr<DataLoader> loader_;  // null: loaded_ is the data
  InputData loaded_;
  std::shared_ptr<DataSource> source_;  // until it has been read
  TensorStore* store_ = nullptr;        // null: the first iteration is all
  bool fixed_ = false;
  std::vector<TensorInfo> first_inputs_, inputs_;
  mutable int64_t drawn_iteration_ = -1;  // data are drawn again for another iteration
  mutable TensorList drawn_;
};

}  // namespace assay
