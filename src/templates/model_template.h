// What a generated model is made of, and for.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
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

}  // namespace assay
