// Steps of the tactic resize: their parameters, and the kernel that runs them.
#pragma once

#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "kernels/resize/resize.h"

namespace assay::engine::tactic_resize {

/// The input rows or columns for each of the output's.
struct TapFields {
  int64_t in = 0, out = 0;
  int64_t taps = 1;
  std::vector<int64_t> index = {};
  std::vector<double> weight = {};

  void fields(FieldVisitor& visit, const std::string& name) {
    visit(name + "_taps", taps, {1, kernels::kMaxResizeTaps});
    const auto count = static_cast<size_t>(StepReader::product({taps, out}));
    visit(name + "_index", index, count, {0, std::min<int64_t>(in, kMaxOfWindow) - 1});
    visit(name + "_weight", weight, count);
  }
  kernels::ResizeAxis table() const {
    return {.taps = taps, .index = {index.begin(), index.end()}, .weight = {weight.begin(), weight.end()}};
  }
};

struct StepFields {
  TapFields rows, columns;

  void fields(FieldVisitor& visit) {
    rows.fields(visit, "rows");
    columns.fields(visit, "columns");
  }
};

/// Of steps on quantized numbers that are quantized again.
struct ByteFields {
  bool reads_signed = false, makes_signed = false;
  float x_scale = 1, y_scale = 1;
  int64_t x_zero_point = 0, y_zero_point = 0;

  void fields(FieldVisitor& visit) {
    visit("x_scale", x_scale);
    visit("x_zero_point", x_zero_point, {reads_signed ? -128 : 0, reads_signed ? 127 : 255});
    visit("y_scale", y_scale);
    visit("y_zero_point", y_zero_point, {makes_signed ? -128 : 0, makes_signed ? 127 : 255});
  }
};

/// Types whose elements can be moved.
inline bool has_whole_bytes(DType type) { return !is_packed(type) && type != DType::kString; }

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_resize
