// Saved arrays as text, in Polygraphy's layout.
#include <fmt/format.h>

#include <limits>

#include "base/diagnostics.h"
#include "compare/histogram.h"
#include "compare/report.h"
#include "inspect/data_report.h"
#include "inspect/text_block.h"
#include "tensor/numbers.h"
#include "tensor/print.h"
#include "tensor/statistics.h"

namespace assay {
namespace {

/// Larger than any extent or line, and small enough to be doubled.
constexpr int64_t kEverything = std::numeric_limits<int64_t>::max() / 4;

std::string statistics_line(const ArrayDescription& a) {
  if (!a.statistics) return "<Error while computing statistics>";
  return statistics_text(*a.statistics, number_kind(a.dtype), a.shape, a.dtype == DType::kBool);
}

std::string histogram_lines(const ArrayDescription& a) {
  if (a.histogram) return histogram_text(*a.histogram);
  return a.statistics && a.dtype != DType::kBool && a.shape.numel() == 0 ? "None" : "";
}

}  // namespace

ArrayDescription describe(std::string name, const Tensor& tensor, const ArrayTextOptions& options) {
  ArrayDescription d{.name = std::move(name), .dtype = tensor.dtype(), .shape = tensor.shape()};
  if (options.values) d.elements = tensor;
  try {
    const TensorNumbers numbers(tensor);
    d.statistics = statistics(numbers);
    if (options.histogram && d.dtype != DType::kBool && numbers.size() > 0)
      d.histogram = try_histogram(numbers, own_range(*d.statistics));
  } catch (const Error& e) {
    diag::verbose("Could not generate statistics.\nNote: Error was: {}", e.message());
  }
  return d;
}

std::string array_text(const ArrayDescription& a, const ArrayTextOptions& options, int level) {
  std::string text = indented(fmt::format("\n{} [dtype={}, shape={}] | Stats: {}", a.name,
                                          dtype_name(a.dtype), a.shape.str(), statistics_line(a)),
                              level - 1);
  if (options.histogram) text += "\n" + indented(histogram_lines(a), level);
  if (options.values) {
    PrintOptions print;
    print.edgeitems = options.edge_items < 0 ? kEverything : options.edge_items;
    print.linewidth = options.line_width < 0 ? kEverything : options.line_width;
    text += "\n" + indented(array_str(a.elements, print), level);
  }
  return text;
}

void DataText::begin_inputs(size_t iterations) {
  text_ = fmt::format("==== Data ({} iterations) ====\n", iterations);
  level_ = all_ && iterations > 1 ? 2 : 1;
}
void DataText::begin_results(size_t runners, size_t longest_name) {
  text_ = fmt::format("==== Run Results ({} runners) ====\n\n", runners);
  longest_name_ = longest_name;
}
void DataText::begin_runner(std::string_view name, size_t iterations) {
  text_ += fmt::format("---- {:<{}} ({} iterations) ----\n", name, longest_name_, iterations);
  level_ = all_ && iterations > 1 ? 2 : 1;
}
void DataText::begin_iteration(size_t index) {
  if (titles_iterations()) text_ += fmt::format("\n-- Iteration: {}", index);
}
void DataText::add(const ArrayDescription& array) { text_ += array_text(array, options_, level_); }
void DataText::end_iteration() {
  if (titles_iterations()) text_ += "\n";
}
void DataText::end_runner() { text_ += "\n"; }

}  // namespace assay
