// Generated models: well-known architectures, built layer by layer through the graph API, with seeded random
// weights.
//
// One line per model in templates.def, one file per model next to it. A model's nodes are named as PyTorch's
// exporter names them and its weights by their state_dict keys, so reports read as they do for an exported
// checkpoint.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "assay/graph.h"

namespace assay {

/// The supported opsets of templates, and the default.
inline constexpr int64_t kOldestTemplateOpset = 11;
inline constexpr int64_t kNewestTemplateOpset = 28;
inline constexpr int64_t kDefaultTemplateOpset = 17;

/// The largest fixed batch; counts of elements and operations do not overflow with it.
inline constexpr int64_t kLargestTemplateBatch = 1 << 20;

/// The weights of a generated model.
enum class TemplateWeights : uint8_t {
  kRandom,      ///< seeded random values with the scale of the architecture's paper or reference code
  kShapesOnly,  ///< zeros that take no memory: for counting, and for analysis of the structure
};

struct TemplateOptions {
  /// Same seed, same bytes, on every machine and with any number of threads.
  uint64_t seed = 0;
  /// Extent of the first dimension of every input; nothing: the symbol `batch`. Language models then get a
  /// symbolic sequence length too.
  std::optional<int64_t> batch = 1;
  /// Nothing: kDefaultTemplateOpset, or the nearest that the template exists for.
  std::optional<int64_t> opset;
  TemplateWeights weights = TemplateWeights::kRandom;
};

/// One line of templates.def.
struct ModelTemplate {
  std::string_view name;     ///< as on the command line: resnet-18
  std::string_view summary;  ///< one line for --list
  int64_t min_opset = kOldestTemplateOpset;
  int64_t max_opset = kNewestTemplateOpset;
  /// Inner shapes depend on data: later operations are not counted.
  bool is_data_dependent = false;
  /// The first dimension of every input is the batch; false: some have states, tables or scalars.
  bool has_batch_first = true;
  /// Expects options that build_template() has checked.
  std::shared_ptr<Model> (*build)(const TemplateOptions&);
};

/// In the order of templates.def.
std::span<const ModelTemplate* const> all_templates();

/// Throws Error (kNotFound) naming the nearest templates.
const ModelTemplate& find_template(std::string_view name);

/// Builds the model. Throws Error (kInvalidArgument) for a batch outside [1, kLargestTemplateBatch] and for
/// an opset that the template does not support.
std::shared_ptr<Model> build_template(const ModelTemplate& t, const TemplateOptions& options = {});

/// The statistics of a model in --list, counted on the built graph.
struct TemplateStatistics {
  /// Elements of the weights as PyTorch counts parameters: excluding running statistics and exporter
  /// constants.
  int64_t parameters = 0;
  /// Multiply-accumulates of Conv, ConvTranspose, Gemm, MatMul and LSTM for one run; other operators are not
  /// counted, nor those after a data-dependent shape, nor bodies of If, Loop and Scan.
  int64_t macs = 0;
  /// Bytes of the model as save_model() writes it.
  int64_t file_bytes = 0;

  /// The convention of --list: one multiply-accumulate is two operations.
  double gflops() const { return 2e-9 * static_cast<double>(macs); }
};

/// Builds the template without weights and counts; takes milliseconds. The batch must be a number. Errors as
/// build_template().
TemplateStatistics template_statistics(const ModelTemplate& t, const TemplateOptions& options = {});

}  // namespace assay
