// Data sets, sample by sample.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/backend.h"
#include "assay/tensor.h"
#include "eval/evaluation.h"
#include "generate/interface.h"
#include "run/data_source.h"
#include "script/reference.h"

namespace assay::eval {

/// One sample.
struct Sample {
  int64_t index = 0;
  TensorList tensors;           ///< by the names that the data have
  std::vector<int64_t> labels;  ///< of the data set itself: next tokens, or the array that is named
  /// Of a model that takes a fixed number of tokens a step: how it is fed. The only tensor has the tokens
  /// then, and the sample's outputs are those of its steps, one after the other.
  std::shared_ptr<const generate::Interface> steps = nullptr;
};

/// Samples in memory for as long as a caller keeps them. A set is either counted, and gives any sample, or a
/// stream, which gives one after the other. Not thread-safe.
class SampleSet {
 public:
  virtual ~SampleSet() = default;
  /// Identifies the data, as far as they are known before they are read.
  virtual Entries identity() const = 0;
  /// Before the first sample. Throws Error for data that the model cannot take.
  virtual void begin(const std::vector<TensorInfo>& inputs, const std::vector<TensorInfo>& outputs) = 0;
  /// The number of samples; nothing: a stream.
  virtual std::optional<int64_t> size() const = 0;
  /// A counted set's sample. Throws Error for a sample that cannot be read.
  virtual Sample load(int64_t index) = 0;
  /// A stream's next sample; nothing after the last. Throws Error: the stream is at its end then.
  virtual std::optional<Sample> next() = 0;
};

/// Arrays of a file of NumPy, `.npy` or `.npz`: sample i is row i of each, with an extent of 1 for the batch.
/// An array of the name `labels` is not fed. Stored arrays are read by mapping.
std::shared_ptr<SampleSet> array_samples(const std::string& path, const std::string& labels);
/// The files of a folder, sorted by name: `.npy`, `.npz` and the JSON of saved inputs, one sample each.
std::shared_ptr<SampleSet> folder_samples(const std::string& folder, const std::string& labels);
/// Iterations of saved inputs, one sample each.
std::shared_ptr<SampleSet> saved_samples(const std::vector<std::string>& paths, const std::string& labels);
/// Random numbers, drawn as a run draws them.
std::shared_ptr<SampleSet> random_samples(DataLoaderOptions options);
/// Sequences of a file of tokens; labels are the next tokens.
std::shared_ptr<SampleSet> token_samples(const std::string& path, generate::InterfaceNames names);
/// The samples that a data loader script yields. `timeout`: seconds that one sample may take; 0: any.
std::shared_ptr<SampleSet> script_samples(const script::Reference& script, const std::string& labels,
                                          double timeout);
/// A program's own source, with what identifies it.
std::shared_ptr<SampleSet> source_samples(std::shared_ptr<DataSource> source, Entries identity,
                                          const std::string& labels);

/// The values of a sample for a model's inputs: by name, or the only one for the only one. Floats and
/// integers are converted to the input's type of their kind, and a missing extent of 1 for the batch is
/// added. Throws Error (kInvalidArgument) for a sample that lacks an input, or has another type or shape.
std::vector<Tensor> feed_of(const Sample& sample, const std::vector<TensorInfo>& inputs);
/// Takes the labels out of the tensors. Throws Error for a sample without them.
void take_labels(Sample& sample, const std::string& name);

/// A label for each sample, or several: the rows of an array of integers (`.npy`), or the lines of a text.
class Labels {
 public:
  /// Throws Error naming the file.
  static Labels load(const std::string& path);
  int64_t size() const { return static_cast<int64_t>(first_.size()) - 1; }
  /// Throws Error (kInvalidArgument) for a sample without labels.
  std::vector<int64_t> of(int64_t sample) const;
  /// Of the values.
  std::string digest() const;

 private:
  std::string path_;
  std::vector<int64_t> values_;
  std::vector<size_t> first_ = {0};  ///< of each sample, and the end
};

}  // namespace assay::eval
