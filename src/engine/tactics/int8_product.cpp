#include "engine/tactics/int8_product.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/parallel.h"
#include "engine/runtime/arena.h"
#include "ops/eval_util.h"

namespace assay::engine {
namespace {

using kernels::PointwiseOp;
using kernels::PointwiseType;

/// Bytes of gathered rows, and of sums, that stay in the second-level cache.
constexpr int64_t kLeftBytes = 96 << 10, kSumBytes = 48 << 10;
constexpr int64_t kMostRows = 192;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

bool quantizes(PointwiseOp op) {
  return op == PointwiseOp::kQuantizeUint8 || op == PointwiseOp::kQuantizeInt8;
}

std::optional<PointwiseType> type_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return PointwiseType::kFloat32;
    case DType::kUInt8:
      return PointwiseType::kUint8;
    case DType::kInt8:
      return PointwiseType::kInt8;
    default:
      return std::nullopt;
  }
}

/// Where all that happens is a bound on one side or both and the end in 8 bits.
std::optional<kernels::Requantization> requantization_of(const EpilogueSpec& spec) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (spec.entries.empty() || spec.entries.size() > 2) return std::nullopt;
  const EpilogueSpec::Entry& last = spec.entries.back();
  if (!quantizes(last.op)) return std::nullopt;
  kernels::Requantization r{.low = -kInfinity,
                            .high = kInfinity,
                            .scale = last.a,
                            .zero_point = static_cast<int>(last.b),
                            .is_signed = last.op == PointwiseOp::kQuantizeInt8};
  if (spec.entries.size() == 2) {
    const EpilogueSpec::Entry& first = spec.entries[0];
    if (first.op == PointwiseOp::kRelu)
      r.low = 0;
    else if (first.op == PointwiseOp::kClip)
      r.low = first.a, r.high = first.b;
    else
      return std::nullopt;
  }
  return r;
}

}  // namespace

Int8Tiles int8_tiles(const Int8Size& size, int threads) {
  Int8Tiles t;
  const int64_t row_bytes = kernels::int8_row_length(size.k) * 2;
  const int64_t fitting = std::clamp(kLeftBytes / row_bytes, kernels::kInt8Rows, kMostRows);
  // As many tiles as make the threads' shares equal, of rows that fill the registers.
  t.row_tiles = ceil_div(size.m, fitting);
  if (size.m >= threads * kernels::kInt8Rows / 2) t.row_tiles = ceil_div(t.row_tiles, threads) * threads;
  const int64_t unit = kernels::kInt8Rows / 2;
  t.rows = std::min(size.m, ceil_div(ceil_div(size.m, t.row_tiles), unit) * unit);
  t.row_tiles = ceil_div(size.m, t.rows);
  const int64_t panels = ceil_div(size.n, kernels::kInt8Columns);
  int64_t per_block = std::clamp<int64_t>(kSumBytes / (t.rows * kernels::kInt8Columns * 4), 1, panels);
  if (t.row_tiles < threads) {
    t.groups = std::min<int64_t>(ceil_div(threads, t.row_tiles), panels);
    per_block = std::min(per_block, ceil_div(panels, t.groups));
  }
  t.columns = per_block * kernels::kInt8Columns;
  t.column_blocks = ceil_div(panels, per_block);
  t.groups = std::min(t.groups, t.column_blocks);
  t.chunks = std::min<int64_t>(threads, t.row_tiles * t.groups);
  t.left_bytes = static_cast<int64_t>(align_up(static_cast<size_t>(t.rows * row_bytes)));
  t.sum_bytes = static_cast<int64_t>(align_up(static_cast<size_t>(t.rows * t.columns * 4)));
  return t;
}

std::string read_int8(const Problem& p, const Value* x, const Value* weights, size_t channel_axis,
                      int64_t depth, Int8Operands& operands) {
  const auto quantization = quantization_of(x);
  if (!quantization) return "the input does not come from a DequantizeLinear of 8 bits for the whole tensor";
  operands.x = *quantization;
  operands.weights = p.quantized_constant(weights);
  if (operands.weights == nullptr) return "the weights are not a constant behind a DequantizeLinear";
  const QuantizedConstant& w = *operands.weights;
  if (w.scale.size() > 1 && w.axis != channel_axis)
    return "the weights have scales along another axis than the result's channels";
  if (depth > kernels::kMaxInt8Sum) return "its sums may exceed 32 bits";
  // Numbers of 8 bits less a zero point other than 0 may need 9.
  operands.wide = w.stored.dtype() == DType::kUInt8 ||
                  std::any_of(w.zero_point.begin(), w.zero_point.end(), [](int z) { return z != 0; });
  return {};
}

std::string int8_epilogue_refusal(const Problem& p, const std::vector<EpilogueStep>& epilogue) {
  if (!type_of(p.output_dtype(0))) return "the result is neither float32 nor of 8 bits";
  for (const EpilogueStep& s : epilogue)
    if (s.operand != nullptr && p.shape(s.operand) == nullptr)
      return "the shape of an operand is not known before the run";
  return {};
}

std::vector<int16_t> int8_numbers(const QuantizedConstant& weights) {
  const std::vector<int64_t> stored = weights.stored.to_int64();
  std::vector<int16_t> numbers(stored.size());
  const auto count = static_cast<int64_t>(weights.scale.size());
  const int64_t inner =
      count == 1 ? 1 : weights.stored.shape().numel(weights.axis + 1, weights.stored.rank());
  for (size_t i = 0; i < stored.size(); ++i)
    numbers[i] =
        static_cast<int16_t>(stored[i] - weights.zero_point_at(static_cast<int64_t>(i) / inner % count));
  return numbers;
}

void write_int8(const Problem& p, const Int8Operands& operands, const Value* x, const Value* weights,
                const Value* bias, double bias_scale, const std::vector<EpilogueStep>& epilogue,
                int64_t columns, Layout layout, const std::string& packing, std::function<Tensor()> pack,
                Candidate& b) {
  const QuantizedConstant& w = *operands.weights;
  b.add_input(x, {layout, operands.x.dtype});
  b.add_constant(weights->name(), w.stored, packing, std::move(pack));
  b.add_constant(weights->name() + "/scale", w.stored,
                 fmt::format("scales of {} times {:a}", weights->name(), operands.x.scale),
                 [scales = w.scale, factor = operands.x.scale, columns] {
                   Tensor t = Tensor::allocate(DType::kFloat32, Shape{columns});
                   for (int64_t i = 0; i < columns; ++i)
                     t.mutable_data<float>()[i] =
                         factor * scales[scales.size() == 1 ? 0 : static_cast<size_t>(i)];
                   return t;
                 });
  if (bias == nullptr)
    b.skip_input();
  else
    b.add_constant(bias->name(), bias->tensor(), fmt::format("x {}", bias_scale),
                   [source = bias->tensor(), bias_scale] {
                     Tensor t = source.aligned();
                     if (bias_scale == 1) return t;
                     for (float& v : t.mutable_span<float>()) v = static_cast<float>(v * bias_scale);
                     return t;
                   });
  b.add_output(p.region().output(), layout);
  b.step.parameters.set("x_scale", double{operands.x.scale});
  b.step.parameters.set("x_zero_point", int64_t{operands.x.zero_point});
  b.step.parameters.set("wide", int64_t{operands.wide});
  EpilogueSpec spec = epilogue_spec(p, epilogue, layout, 4);
  std::vector<double> scales, zero_points;
  for (size_t i = 0; i < epilogue.size(); ++i) {
    spec.entries[i].may_accumulate = false;
    if (epilogue[i].operand == nullptr) continue;
    const auto q = quantization_of(epilogue[i].operand);
    if (q) spec.entries[i].format.dtype = q->dtype;
    scales.push_back(q ? double{q->scale} : 1);
    zero_points.push_back(q ? q->zero_point : 0);
  }
  b.step.parameters.set("operand_scales", scales);
  b.step.parameters.set("operand_zero_points", zero_points);
  write_epilogue(epilogue, spec, b);
}

StepReader read_int8_step(const Plan& plan, const Step& step) {
  return {plan, step, 4, kernels::kMaxPointwiseRegisters};
}

Quantization int8_input(const StepReader& r) {
  const PlanValue& x = r.any_input(0);
  StepReader::check(x.dtype == DType::kUInt8 || x.dtype == DType::kInt8, "its input is {}",
                    dtype_name(x.dtype));
  const bool is_signed = x.dtype == DType::kInt8;
  const int64_t zero = r.number("x_zero_point", is_signed ? -128 : 0, is_signed ? 127 : 255);
  return {.scale = r.real("x_scale"), .zero_point = static_cast<int>(zero), .dtype = x.dtype};
}

Int8Finish::Int8Finish(const StepReader& r, const Int8Size& size, const Int8Tiles& tiles) : size_(size) {
  const PlanValue& out = r.any_output(0);
  const std::optional<PointwiseType> type = type_of(out.dtype);
  StepReader::check(type.has_value() && !out.layout.is_blocked(), "its result is {} in {}",
                    dtype_name(out.dtype), out.layout.str());
  r.check_elements(out, {size.m, size.n});
  result_type_ = *type;
  width_ = storage_bytes(out.dtype, 1);
  r.check_elements(r.row_input(2), {size.n});
  r.optional_elements(3, {size.n});
  const EpilogueSpec spec = epilogue_spec(r, 4, true);
  requantization_ = requantization_of(spec);
  is_plain_ = spec.entries.empty();
  if (requantization_)
    StepReader::check(out.dtype == (requantization_->is_signed ? DType::kInt8 : DType::kUInt8),
                      "its result is {}", dtype_name(out.dtype));
  StepReader::check(!is_plain_ || out.dtype == DType::kFloat32, "its result is {}", dtype_name(out.dtype));
  if (is_plain_ || requantization_) return;
  const auto count = static_cast<size_t>(
      std::count_if(spec.entries.begin(), spec.entries.end(), [](const auto& e) { return e.position >= 0; }));
  const auto &scales = r.reals("operand_scales", count), &zero_points = r.reals("operand_zero_points", count);
  types_.push_back({});
  for (const EpilogueSpec::Entry& e : spec.entries) {
    if (e.position < 0) continue;
    const PlanValue& v = r.any_input(static_cast<size_t>(e.position));
    const std::optional<PointwiseType> operand_type = type_of(v.dtype);
    const bool whole = v.shape.numel() == size.m * size.n && size.m > 1, column = v.shape.numel() == size.n;
    StepReader::check(
        operand_type.has_value() && !v.layout.is_blocked() &&
            (whole ? same_memory(v.shape, v.layout, out.layout) : column || v.shape.numel() == 1),
        "'{}' of shape {} in {} does not fit its result", v.name, v.shape.str(), v.layout.str());
    operands_.push_back({static_cast<size_t>(e.position), whole ? size.n : 0,
                         whole || (column && size.n > 1) ? 1 : 0, storage_bytes(v.dtype, 1)});
    types_.push_back({*operand_type, {operands_.back().row_stride, operands_.back().column_stride}});
  }
  program_ = kernels::PointwiseProgram(static_cast<int>(types_.size()));
  int running = 0;
  size_t next = 1;
  for (const EpilogueSpec::Entry& e : spec.entries) {
    int operand = -1;
    if (e.position >= 0) {
      operand = static_cast<int>(next);
      if (types_[next].type != PointwiseType::kFloat32)
        operand =
            program_.append(PointwiseOp::kDequantize, {operand, -1, -1}, static_cast<float>(scales[next - 1]),
                            static_cast<float>(zero_points[next - 1]));
      ++next;
    }
    running = program_.append(e.op, {running, operand, -1}, e.a, e.b);
  }
  program_.add_result(running);
  for (const int64_t rows : {tiles.rows, size.m % tiles.rows})
    for (const int64_t columns : {std::min(tiles.columns, size.n), size.n % tiles.columns})
      if (rows > 0 && columns > 0) loops_.push_back({rows, columns, loop_of(rows, columns, tiles.columns)});
}

kernels::PointwiseLoop Int8Finish::loop_of(int64_t rows, int64_t columns, int64_t stride) const {
  std::vector<kernels::PointwiseOperand> operands = types_;
  operands[0].strides = {stride, 1};
  return checked_loop(program_, Shape{rows, columns}, std::move(operands), {result_type_});
}

void Int8Finish::run(const KernelArgs& args, int64_t row, int64_t rows, int64_t column, int64_t columns,
                     int32_t* sums, int64_t stride, void* spare) const noexcept {
  const float* const scale = static_cast<const float*>(args.inputs[2]) + column;
  const float* const bias =
      args.inputs[3] == nullptr ? nullptr : static_cast<const float*>(args.inputs[3]) + column;
  auto* const out =
      static_cast<char*>(args.outputs[0]) + (row * size_.n + column) * static_cast<int64_t>(width_);
  const int64_t pitch = size_.n * static_cast<int64_t>(width_);
  if (requantization_) {
    for (int64_t r = 0; r < rows; ++r)
      kernels::requantize(sums + r * stride, columns, scale, bias, *requantization_, out + r * pitch);
    return;
  }
  for (int64_t r = 0; r < rows; ++r)
    kernels::scale_sums(
        sums + r * stride, columns, scale, bias,
        is_plain_ ? reinterpret_cast<float*>(out + r * pitch) : reinterpret_cast<float*>(sums + r * stride));
  if (is_plain_) return;
  std::array<const void*, kernels::kMaxPointwiseRegisters> operands;
  operands[0] = sums;
  for (size_t i = 0; i < operands_.size(); ++i)
    operands[i + 1] = static_cast<const char*>(args.inputs[operands_[i].position]) +
                      (row * operands_[i].row_stride + column * operands_[i].column_stride) *
                          static_cast<int64_t>(operands_[i].width);
  const bool whole = columns == size_.n;
  void* results[] = {whole ? out : spare};
  for (const Loop& l : loops_)
    if (l.rows == rows && l.columns == columns) {
      l.loop.run(std::span(operands).first(operands_.size() + 1), results);
      break;
    }
  if (whole) return;
  const size_t bytes = static_cast<size_t>(columns) * width_;
  for (int64_t r = 0; r < rows; ++r)
    std::memcpy(out + r * pitch, static_cast<const char*>(spare) + static_cast<size_t>(r) * bytes, bytes);
}

Int8Kernel::Int8Kernel(const StepReader& r, const Int8Size& size, Gather gather)
    : size_(size),
      tiles_(int8_tiles(size, r.plan().threads)),
      weights_{size.n, size.k, r.flag("wide")},
      finish_(r, size, tiles_),
      gather_(std::move(gather)) {
  r.check_elements(r.row_input(1, DType::kUInt8), {weights_.bytes()});
  r.check_scratch(tiles_.scratch_bytes());
}

Status Int8Kernel::run(const KernelArgs& args) noexcept {
  parallel_for(tiles_.chunks, 1, [&](int64_t first, int64_t last) {
    for (int64_t chunk = first; chunk < last; ++chunk) run_chunk(args, chunk);
  });
  return Status::kOk;
}

void Int8Kernel::run_chunk(const KernelArgs& args, int64_t chunk) const {
  char* const scratch = static_cast<char*>(args.scratch) + chunk * (tiles_.left_bytes + 2 * tiles_.sum_bytes);
  auto* const left = reinterpret_cast<int16_t*>(scratch);
  auto* const sums = reinterpret_cast<int32_t*>(scratch + tiles_.left_bytes);
  void* const spare = scratch + tiles_.left_bytes + tiles_.sum_bytes;
  const int64_t tasks = tiles_.row_tiles * tiles_.groups;
  int64_t gathered = -1;
  for (int64_t task = tasks * chunk / tiles_.chunks; task < tasks * (chunk + 1) / tiles_.chunks; ++task) {
    const int64_t tile = task / tiles_.groups, group = task % tiles_.groups;
    const int64_t row = tile * tiles_.rows, rows = std::min(tiles_.rows, size_.m - row);
    if (gathered != tile) gather_(args.inputs[0], row, rows, left);
    gathered = tile;
    const int64_t end = tiles_.column_blocks * (group + 1) / tiles_.groups;
    for (int64_t block = tiles_.column_blocks * group / tiles_.groups; block < end; ++block) {
      const int64_t column = block * tiles_.columns, columns = std::min(tiles_.columns, size_.n - column);
      kernels::int8_product(weights_, args.inputs[1], column / kernels::kInt8Columns,
                            (columns + kernels::kInt8Columns - 1) / kernels::kInt8Columns, left, rows, sums,
                            tiles_.columns);
      finish_.run(args, row, rows, column, columns, sums, tiles_.columns, spare);
    }
  }
}

}  // namespace assay::engine
