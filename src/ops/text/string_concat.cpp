// StringConcat: the two strings joined, element by element, with broadcasting.
#include "base/memory_limit.h"
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"
#include "ops/tensor/elements.h"
#include "ops/text/string_input.h"

namespace assay::op_onnx_StringConcat {
namespace {

/// Bytes of all strings together when they are repeated up to `count` elements.
double repeated_bytes(std::span<const std::string> strings, int64_t count) {
  double bytes = 0;
  for (const std::string& s : strings) bytes += static_cast<double>(s.size());
  return strings.empty() ? 0 : bytes * static_cast<double>(count / static_cast<int64_t>(strings.size()));
}

void eval(EvalContext& c) {
  const std::span<const std::string> x = string_input(c, 0), y = string_input(c, 1);
  Tensor z = checked_allocation(DType::kString, broadcast(c.shape(0), c.shape(1)));
  const double bytes = repeated_bytes(x, z.numel()) + repeated_bytes(y, z.numel());
  c.check(bytes <= static_cast<double>(memory_left()),
          "an output of {:.0f} bytes is larger than the {} bytes that there are", bytes, memory_left());
  std::string* out = z.mutable_data<std::string>();
  for_broadcast_rows<2>(z.shape(), {c.shape(0), c.shape(1)},
                        [=](const auto& steps, int64_t at, const auto& offsets, int64_t n) {
                          for (int64_t i = 0; i < n; ++i)
                            out[at + i] = x[static_cast<size_t>(offsets[0] + i * steps[0])] +
                                          y[static_cast<size_t>(offsets[1] + i * steps[1])];
                        });
  c.set_output(0, std::move(z));
}

constexpr OpVersion kVersions[] = {
    {20, R"(
in  X: T
in  Y: T
out Z: T
type T: string)",
     infer_broadcast, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "StringConcat",
    .versions = kVersions,
    .facts =
        {
            .elementwise = 2,
        },
};

}  // namespace assay::op_onnx_StringConcat
