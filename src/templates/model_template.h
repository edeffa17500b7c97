// What a generated model is made of, and for.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "assay/graph.h"

namespace assay {

/// The opsets that templates can be written in, and the one they are written in unless told otherwise.
inline constexpr int64_t kOldestTemplateOpset = 11;
inline constexpr int64_t kNewestTemplateOpset = 28;
inline constexpr int64_t kDefaultTemplateOpset = 17;

/// The largest batch that is a number; no count of elements or operations overflows with it.
inline constexpr int64_t kLargestTemplateBatch = 1 << 20;

/// What the weights of a generated model hold.
enum class TemplateWeights : uint8_t {
  kRandom,      ///< seeded random values of the scale that the architecture's paper or reference code gives
  kShapesOnly,  ///< zeros that take no memory: for counting, and for whatever looks at the structure only
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
  /// Shapes inside depend on the data: operations behind them are not counted.
  bool is_data_dependent = false;
  /// The first dimension of every input is the batch; false: some have states, tables or scalars.
  bool has_batch_first = true;
  /// Expects options that build_template() has checked.
  std::shared_ptr<Model> (*build)(const TemplateOptions&);
};

}  // namespace assay
