#include "inspect/data_text.h"

#include <fmt/format.h>

#include <limits>
#include <optional>

#include "base/log.h"
#include "compare/histogram.h"
#include "compare/report.h"
#include "inspect/text_block.h"
#include "tensor/numbers.h"
#include "tensor/print.h"
#include "tensor/statistics.h"

namespace assay {
namespace {

/// Larger than any extent or line, and small enough to be doubled.
constexpr int64_t kEverything = std::numeric_limits<int64_t>::max() / 4;

/// Title, statistics and, of what has numbers, the histogram.
struct Description {
  std::string statistics, histogram;
};

Description describe(const Tensor& tensor, bool with_histogram) {
  Description result;
  try {
    const TensorNumbers numbers(tensor);
    const Statistics s = statistics(numbers);
    const bool is_bool = tensor.dtype() == DType::kBool;
    result.statistics = statistics_text(s, numbers.kind(), numbers.shape(), is_bool);
    if (with_histogram && !is_bool)
      result.histogram = numbers.size() == 0 ? "None" : histogram_text(numbers, own_range(s));
  } catch (const Error& e) {
    log::verbose("Could not generate statistics.\nNote: Error was: {}", e.message());
    result.statistics = "<Error while computing statistics>";
  }
  return result;
}

}  // namespace

std::string array_text(std::string_view name, const Tensor& tensor, const ArrayTextOptions& options,
                       int level) {
  const Description d = describe(tensor, options.histogram);
  std::string text = indented(fmt::format("\n{} [dtype={}, shape={}] | Stats: {}", name,
                                          dtype_name(tensor.dtype()), tensor.shape().str(), d.statistics),
                              level - 1);
  if (options.histogram) text += "\n" + indented(d.histogram, level);
  if (options.values) {
    PrintOptions print;
    print.edgeitems = options.edge_items < 0 ? kEverything : options.edge_items;
    print.linewidth = options.line_width < 0 ? kEverything : options.line_width;
    text += "\n" + indented(array_str(tensor, print), level);
  }
  return text;
}

}  // namespace assay
