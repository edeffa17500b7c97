// MaxPool of any element type, and with the indices of the maxima.
#include <algorithm>

#include "engine/tactics/reduce/max_pool_kernel.h"
#include "engine/tactics/tactic_list.h"
#include "graph/read.h"
#include "ops/nn/window.h"

namespace assay::engine::tactic_max_pool {
namespace {

constexpr std::string_view kOperators[] = {"MaxPool"};

std::string propose(const Problem& p, Proposals& proposals) {
  const Node& n = p.node();
  const Shape *in = p.input_shape(0), *out = p.output_shape(0);
  if (in == nullptr || out == nullptr) return "the shape is not known before the run";
  if (!kernels::is_number(p.input_dtype(0)))
    return fmt::format("{} is not pooled", dtype_name(p.input_dtype(0)));
  if (in->rank() < 3 || in->size() > 2 + kernels::kMaxWindowAxes)
    return "it has no spatial axes, or too many";
  if (p.input_dtype(0) == DType::kFloat32 && n.output(1) == nullptr && in->rank() <= 5)
    return "oneDNN pools float32 where only the maxima are wanted";
  const Shape spatial = spatial_shape(*in);
  if (in->numel() == 0 || out->numel() == 0 || spatial.numel() > kMaxOfWindow)
    return "the planes are empty or too large";
  const kernels::Window window = read_window(p.attributes(), spatial.size()).over(spatial);
  const auto propose_in = [&](Layout layout, double rate) {
    Candidate& b = proposals.add(layout.str(), NumericsClass::kExact);
    b.add_input(n.input(0), layout);
    for (size_t i = 0; i < 2; ++i)
      n.output(i) != nullptr ? b.add_output(n.output(i), layout) : b.skip_output();
    b.write(
        StepFields{.window = window_fields(window), .by_columns = int_attribute(n, "storage_order", 0) != 0});
    b.estimate = estimate_seconds(2.0 * static_cast<double>(out->numel() * window.taps()),
                                  static_cast<double>(storage_bytes(p.input_dtype(0), in->numel())), rate);
  };
  propose_in({}, 0.05);
  if (pools_bytes(p.input_dtype(0), window, n.output(1) != nullptr)) propose_in(Layout::channels_last(), 0.5);
  return {};
}

}  // namespace

constinit const TacticDef def = {
    .name = "max_pool",
    .summary = "largest elements of windows, of any type, and where they lie",
    .version = 3,
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_max_pool
