// Unique: the distinct elements of a vector in the order of their first occurrence, which of them every
// element is, and how often each occurs.
#include <algorithm>
#include <numeric>

#include "ops/contrib/standard.h"
#include "ops/op_list.h"

namespace assay::op_ms_Unique {
namespace {

void infer(InferContext& c) {
  const Dims* in = c.input_dims(0);
  c.check(in == nullptr || in->size() == 1, "the input has {} dimensions where 1 is needed",
          in ? in->size() : 0);
  c.set_output(0, c.input_dtype(0), {Dim()});
  c.set_output(1, DType::kInt64, {in ? (*in)[0] : Dim()});
  c.set_output(2, DType::kInt64, {Dim()});
}

void eval(EvalContext& c) {
  c.check(c.shape(0).size() == 1, "the input has shape {} where 1 dimension is needed", c.shape(0).str());
  // In ascending order: elements, first places, which one, counts.
  const std::vector<Tensor> sorted = evaluate_as(c, op_onnx_Unique::def, 11, {c.input(0)}, 4);
  const std::vector<int64_t> first = sorted[1].to_int64(), counts = sorted[3].to_int64();
  std::vector<int64_t> order(first.size()), place(first.size()), which = sorted[2].to_int64(), out_counts;
  std::iota(order.begin(), order.end(), int64_t{0});
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return first[static_cast<size_t>(a)] < first[static_cast<size_t>(b)];
  });
  for (size_t i = 0; i < order.size(); ++i) {
    place[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
    out_counts.push_back(counts[static_cast<size_t>(order[i])]);
  }
  for (int64_t& i : which) i = place[static_cast<size_t>(i)];
  c.set_output(0, evaluate_as(c, op_onnx_Gather::def, 11, {sorted[0], Tensor::vector(order)})[0]);
  c.set_output(1, Tensor::vector(which));
  c.set_output(2, Tensor::vector(out_counts));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  x: T
out y: T
out idx: int64
out counts: int64
type T: @all)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "Unique",
    .versions = kVersions,
    .facts =
        {
            .compares = {{{.reach = ComparisonFact::Reach::kAll}}},
        },
};

}  // namespace assay::op_ms_Unique
