// Binarizer: 1 where x is greater than the threshold, else 0 (NaN included).
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"

namespace assay::op_ml_Binarizer {
namespace {

void eval(EvalContext& c) {
  const double threshold = c.attr_float("threshold");
  visit_numeric(c.input(0).dtype(), [&]<typename T>() {
    c.set_output(0, map_elements<T>(c.input(0), [threshold](T x) {
                   return static_cast<double>(x) > threshold ? T(1) : T(0);
                 }));
  });
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
out Y: T
attr threshold: float = 0
type T: float double int64 int32)",
     infer_same_as_input, eval},
};

}  // namespace

constinit const OpDef def = {.domain = "ai.onnx.ml", .name = "Binarizer", .versions = kVersions};

}  // namespace assay::op_ml_Binarizer
