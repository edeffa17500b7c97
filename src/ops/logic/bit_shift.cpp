// BitShift: x shifted by y bits to the left or right. Right shifts of signed types keep the sign. A shift by
// a negative number, or by the width of the type or more, leaves nothing but the sign: -1 for the right
// shift of a negative x, else 0 (stated since version 28; undefined before).
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"

namespace assay::op_onnx_BitShift {
namespace {

bool shifts_left(const OpContext& c) {
  const std::string& direction = c.attr_string("direction");
  c.check(direction == "LEFT" || direction == "RIGHT", "direction must be LEFT or RIGHT, not '{}'",
          direction);
  return direction == "LEFT";
}

void infer(InferContext& c) {
  shifts_left(c);
  infer_broadcast(c);
}

template <typename T>
T shift_left(T x, T y) {
  constexpr T kBits = sizeof(T) * 8;
  return y < T(0) || y >= kBits ? T(0) : static_cast<T>(static_cast<uint64_t>(x) << y);
}

template <typename T>
T shift_right(T x, T y) {
  constexpr T kBits = sizeof(T) * 8;
  if (y < T(0) || y >= kBits) return x < T(0) ? T(-1) : T(0);
  return static_cast<T>(x >> y);
}

void eval(EvalContext& c) {
  const bool left = shifts_left(c);
  visit_integer(c.input(0).dtype(), [&]<typename T>() {
    c.set_output(0,
                 left ? map_broadcast<T>(c.input(0), c.input(1), [](T x, T y) { return shift_left(x, y); })
                      : map_broadcast<T>(c.input(0), c.input(1), [](T x, T y) { return shift_right(x, y); }));
  });
}

std::optional<kernels::PointwiseOp> instruction(const OpContext& c) {
  return c.attr_string("direction") == "LEFT" ? kernels::PointwiseOp::kShiftLeft
                                              : kernels::PointwiseOp::kShiftRight;
}

constexpr OpVersion kVersions[] = {
    {11, R"(
in  X: T
in  Y: T
out Z: T
attr direction: string required
type T: uint8 uint16 uint32 uint64)",
     infer, eval},
    {28, R"(
in  X: T
in  Y: T
out Z: T
attr direction: string required
type T: uint8 uint16 uint32 uint64 int8 int16 int32 int64)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "BitShift",
    .versions = kVersions,
    .facts =
        {
            .elementwise = 2,
            .pointwise = {.op = kernels::PointwiseOp::kShiftLeft, .choose = instruction},
            .uses = {{{.kind = InputUse::Kind::kAxis, .input = 1}}},
        },
};

}  // namespace assay::op_onnx_BitShift
