#include "engine/tactics/product/tiled_product_kernel.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/parallel.h"
#include "engine/runtime/arena.h"
#include "kernels/convert/convert.h"
#include "kernels/panel/bfloat16_rows.h"

namespace assay::engine {

namespace {

using kernels::PointwiseOp;

/// What the busiest thread has to do where `count` rows or panels are cut into blocks of `block`, which
/// `shares` threads get as run_chunk() hands them out; cost(n) of a block of n.
template <typename Cost>
int64_t busiest_share(int64_t count, int64_t block, int64_t shares, const Cost& cost) {
  const int64_t blocks = ceil_div(count, block), rest = count - (blocks - 1) * block;
  int64_t most = 0;
  for (int64_t s = 0; s < shares; ++s) {
    const int64_t first = blocks * s / shares, last = blocks * (s + 1) / shares;
    if (first == last) continue;
    most = std::max(most, (last - first - 1) * cost(block) + cost(last == blocks ? rest : block));
  }
  return most;
}

/// The multiple of `unit` up to `limit` (at least one) that keeps the busiest thread least busy; of equals
/// the largest.
template <typename Cost>
int64_t best_block(int64_t count, int64_t unit, int64_t limit, int64_t shares, const Cost& cost) {
  int64_t best = unit, least = busiest_share(count, unit, shares, cost);
  for (int64_t block = 2 * unit; block <= limit && block < count + unit; block += unit)
    if (const int64_t busy = busiest_share(count, block, shares, cost); busy <= least)
      best = block, least = busy;
  return best;
}

}  // namespace

ProductTiles product_tiles(const ProductSize& size, int64_t row_bytes, int64_t fitting, int threads,
                           int64_t sums, int64_t sum_bytes, int64_t group) {
  ProductTiles t;
  constexpr int64_t kUnit = ProductTiles::kRows / 2;
  /// Every tile of rows reads the weights again, for about the time of so many of them.
  constexpr int64_t kWeightRows = 6;
  const int64_t panels = ceil_div(size.n, ProductTiles::kColumns);
  // Threads share columns where the rows fit in one tile, or are too few, so that every weight is read once.
  const bool share_columns = size.m <= fitting && (panels >= 2 * threads || size.m < threads * kUnit);
  // Groups of panels are multiplied by six rows at a time, or five where that comes out even.
  const int64_t unit = group > 1 ? 1 : kUnit;
  t.rows = share_columns
               ? size.m
               : std::min(size.m, best_block(size.m, unit, fitting, threads, [unit](int64_t rows) {
                            const int64_t sixes = ceil_div(rows, kUnit), missing = sixes * kUnit - rows;
                            return kWeightRows + (unit == 1 && missing <= sixes ? rows : sixes * kUnit);
                          }));
  t.row_tiles = ceil_div(size.m, t.rows);
  if (t.row_tiles < threads) t.groups = std::min<int64_t>(ceil_div(threads, t.row_tiles), panels);
  // Blocks of whole groups of panels, where that leaves the threads as much to do; each reads the rows again.
  int64_t limit = std::max<int64_t>(1, sum_bytes / (t.rows * ProductTiles::kColumns * 4 * sums));
  if (limit < group && 4 * limit >= 3 * group) limit = group;
  const int64_t per_block = best_block(panels, 1, limit, t.groups, [group](int64_t count) {
    return 4 * count + (count % group != 0 ? 2 : 0) + 2;
  });
  t.columns = per_block * ProductTiles::kColumns;
  t.column_blocks = ceil_div(panels, per_block);
  t.groups = std::min(t.groups, t.column_blocks);
  t.chunks = std::min<int64_t>(threads, t.row_tiles * t.groups);
  t.left_bytes = static_cast<int64_t>(align_up(static_cast<size_t>(t.rows * row_bytes)));
  t.sum_bytes = static_cast<int64_t>(align_up(static_cast<size_t>(t.rows * t.columns * 4 * sums)));
  return t;
}

Layout product_layout(const StepReader& r) {
  const PlanValue &in = r.any_input(0), &out = r.any_output(0);
  if (!in.layout.is_blocked()) return Layout::channels_last();
  StepReader::check(in.shape.rank() >= 3 && out.shape.rank() == in.shape.rank() &&
                        in.shape[1] % in.layout.block == 0 && out.shape[1] % in.layout.block == 0,
                    "it makes {} of {} in {}", out.shape.str(), in.shape.str(), in.layout.str());
  return in.layout;
}

ConvProduct read_conv_product(const StepReader& r, ConvGroups groups, Layout in_layout, Layout out_layout) {
  const PlanValue &in = r.any_input(0), &out = r.any_output(0);
  StepReader::check(
      in.shape.rank() >= 3 && in.shape.rank() <= 5 && out.shape.rank() == in.shape.rank() &&
          in.shape[0] == out.shape[0] && in.shape.numel() > 0 && out.shape.numel() > 0 &&
          same_memory(in.shape, in.layout, in_layout) && same_memory(out.shape, out.layout, out_layout),
      "it makes {} in {} of {} in {}", out.shape.str(), out.layout.str(), in.shape.str(), in.layout.str());
  const auto p = r.read(ConvFields{.axes = in.shape.size() - 2,
                                   .most_groups = groups == ConvGroups::kRefused ? 1 : in.shape[1]});
  ConvProduct conv{.window = {.in = {in.shape.begin() + 2, in.shape.end()},
                              .out = {out.shape.begin() + 2, out.shape.end()},
                              .kernel = p.kernel,
                              .strides = p.strides,
                              .dilations = p.dilations,
                              .begin = p.begin,
                              .end = p.end},
                   .in_channels = in.shape[1],
                   .is_depthwise = p.is_depthwise,
                   .groups = p.groups,
                   .size = {}};
  StepReader::check(in.shape[1] % conv.groups == 0 && out.shape[1] % conv.groups == 0,
                    "{} and {} channels have no {} groups", in.shape[1], out.shape[1], conv.groups);
  int64_t k = conv.is_depthwise ? 1 : conv.in_channels / conv.groups;
  for (const int64_t extent : conv.window.kernel) k = r.product({k, extent});
  StepReader::check(!conv.is_depthwise || in.shape[1] == out.shape[1], "it has {} channels of {}",
                    out.shape[1], in.shape[1]);
  conv.size = {out.shape[0] * conv.window.out_size(), out.shape[1], k};
  r.product({conv.size.m, conv.size.n, conv.size.k});
  return conv;
}

TileEpilogue::TileEpilogue(const StepReader& r, size_t inputs, const ProductSize& size,
                           const ProductTiles& tiles)
    : TileEpilogue(r, inputs, size, std::array{tiles.rows, size.m % tiles.rows}, tiles.columns) {}

TileEpilogue::TileEpilogue(const StepReader& r, size_t inputs, const ProductSize& size,
                           std::span<const int64_t> rows, int64_t columns)
    : size_(size), spec_(epilogue_spec(r, inputs, true)) {
  const PlanValue& out = r.any_output(0);
  if (is_stored_tile_type(out.dtype)) result_type_ = out.dtype;
  const bool sums = is_plain() && out.dtype == DType::kInt32;
  StepReader::check(
      (sums || is_stored_tile_type(out.dtype)) &&
          (!out.layout.is_blocked() || (out.dtype == DType::kFloat32 && out.shape.rank() > 2 &&
                                        size.n == out.shape[1] && size.n % out.layout.block == 0)),
      "its result is {} in {}", dtype_name(out.dtype), out.layout.str());
  places_ = out.layout.is_blocked()
                ? kernels::ImagePlaces{size.n, out.shape.numel(2, out.shape.size()), out.layout.block}
                : kernels::ImagePlaces{size.n, 1, size.n};
  StepReader::check(!is_plain() || sums || out.dtype == DType::kFloat32, "its result is {}",
                    dtype_name(out.dtype));
  r.check_elements(out, {size.m, size.n});
  width_ = storage_bytes(out.dtype, 1);
  if (is_plain() && has_rows()) return;
  add_operands(r);
  find_common_epilogue();
  if (!common_epilogue_) make_program(r, rows, columns);
}

void TileEpilogue::find_common_epilogue() {
  const auto is_float = [](DType t) { return t == DType::kFloat32 || t == DType::kBFloat16; };
  if (!is_float(result_type_)) return;
  // Only what is as large as the result is in bfloat16.
  bool adds_narrow = false;
  for (size_t i = 0; i < operands_.size(); ++i) {
    const DType type = types_[i + 1].type;
    if (!is_float(type) || (type == DType::kBFloat16 && !operands_[i].is_whole)) return;
    adds_narrow = adds_narrow || type == DType::kBFloat16;
  }
  common_epilogue_ = common_epilogue(spec_, size_.m, size_.n);
  adds_narrow_ = adds_narrow;
  is_narrow_ = adds_narrow || result_type_ == DType::kBFloat16;
}

void TileEpilogue::add_operands(const StepReader& r) {
  const PlanValue& out = r.any_output(0);
  types_.push_back({});
  for (const EpilogueSpec::Entry& e : spec_.entries) {
    if (e.position < 0) continue;
    const PlanValue& v = r.any_input(static_cast<size_t>(e.position));
    const bool whole = v.shape.numel() == size_.m * size_.n && size_.m > 1,
               column = v.shape.numel() == size_.n;
    // What is of a whole result of one row is of its columns, too.
    const bool alike = same_memory(v.shape, v.layout, out.layout);
    StepReader::check(
        is_stored_tile_type(v.dtype) && (whole    ? alike
                                         : column ? alike || !v.layout.is_blocked()
                                                  : !v.layout.is_blocked() && v.shape.numel() == 1),
        "'{}' of shape {} in {} does not fit its result", v.name, v.shape.str(), v.layout.str());
    operands_.push_back({static_cast<size_t>(e.position), whole, whole || (column && size_.n > 1) ? 1 : 0,
                         storage_bytes(v.dtype, 1)});
    types_.push_back({v.dtype, {whole ? places_.block : 0, operands_.back().column_stride}});
  }
}

void TileEpilogue::make_program(const StepReader& r, std::span<const int64_t> rows, int64_t columns) {
  const auto p = r.read(OperandFields{operands_.size()});
  kernels::PointwiseProgram program(static_cast<int>(types_.size()));
  int running = 0;
  size_t next = 1;
  for (const EpilogueSpec::Entry& e : spec_.entries) {
    int operand = -1;
    if (e.position >= 0) {
      operand = static_cast<int>(next);
      if (const DType type = types_[next].type; type == DType::kUInt8 || type == DType::kInt8)
        operand = program.append(PointwiseOp::kDequantize, {operand, -1, -1},
                                 static_cast<float>(p.scales[next - 1]),
                                 static_cast<float>(p.zero_points[next - 1]));
      ++next;
    }
    running = append_checked(program, e.op, {running, operand, -1}, e.a, e.b);
  }
  program.add_result(running);
  const auto add_loop = [&](int64_t count, int64_t width) {
    if (count == 0 || width == 0) return;
    std::vector<kernels::PointwiseOperand> operands = types_;
    operands[0].strides = {columns, 1};
    loops_.push_back(
        {count, width, checked_loop(program, Shape{count, width}, std::move(operands), {result_type_})});
  };
  if (has_rows()) {
    for (const int64_t count : rows)
      for (const int64_t width : {std::min(columns, size_.n), size_.n % columns}) add_loop(count, width);
    return;
  }
  // Rows of a tile that belong to two images are finished one by one.
  for (const int64_t count : rows)
    if (count > 1) add_loop(count, places_.block);
  add_loop(1, places_.block);
}

void TileEpilogue::run(const KernelArgs& args, int64_t row, int64_t rows, int64_t column, int64_t columns,
                       const float* values, int64_t stride, void* spare) const noexcept {
  if (has_rows()) return run_rows(args, row * size_.n + column, rows, column, columns, values, stride, spare);
  const bool by_row = !common_epilogue_ && row % places_.pixels + rows > places_.pixels;
  while (rows > 0) {
    const int64_t some = by_row ? 1 : std::min(rows, places_.pixels - row % places_.pixels);
    for (int64_t c = 0; c < columns; c += places_.block)
      run_rows(args, places_.of(row, column + c), some, column + c, places_.block, values + c, stride, spare);
    row += some;
    rows -= some;
    values += some * stride;
  }
}

void TileEpilogue::run_narrow_rows(const KernelArgs& args, int64_t place, int64_t rows, int64_t column,
                                   int64_t columns, const float* values, int64_t stride) const noexcept {
  constexpr int64_t kPiece = 1024;  // numbers at a time: two of them stay in the first-level cache
  alignas(64) float addends[kPiece], results[kPiece];
  const int64_t pitch = places_.block, width = std::min(columns, kPiece), together = kPiece / width;
  const CommonEnd& end = *common_epilogue_;
  const auto* const addend =
      adds_narrow_ ? static_cast<const uint16_t*>(args.inputs[static_cast<size_t>(end.addend)]) : nullptr;
  const bool is_rounded = result_type_ == DType::kBFloat16, is_copied = spec_.entries.empty();
  for (int64_t r = 0; r < rows; r += together)
    for (int64_t c = 0; c < columns; c += width) {
      const int64_t count = std::min(together, rows - r), n = std::min(width, columns - c),
                    at = place + r * pitch + c;
      const float *x = values + r * stride + c, *from = is_copied ? x : results;
      kernels::EpilogueOperands operands = end.operands(args, at, pitch, column + c);
      if (addend != nullptr) {
        for (int64_t i = 0; i < count; ++i)
          kernels::widen_row(DType::kBFloat16, addend + at + i * pitch, addends + i * n,
                             static_cast<size_t>(n));
        operands.addend = addends, operands.addend_stride = n;
      }
      if (!is_rounded) {
        kernels::row_epilogue(end.finish, count, n, x, stride, operands,
                              static_cast<float*>(args.outputs[0]) + at, pitch);
        continue;
      }
      if (!is_copied) kernels::row_epilogue(end.finish, count, n, x, stride, operands, results, n);
      for (int64_t i = 0; i < count; ++i, from += is_copied ? stride : n)
        kernels::round_to_bfloat16(from, static_cast<uint16_t*>(args.outputs[0]) + at + i * pitch,
                                   static_cast<size_t>(n));
    }
}

void TileEpilogue::run_rows(const KernelArgs& args, int64_t place, int64_t rows, int64_t column,
                            int64_t columns, const float* values, int64_t stride,
                            void* spare) const noexcept {
  const auto width = static_cast<int64_t>(width_), pitch = places_.block;
  char* const out = static_cast<char*>(args.outputs[0]) + place * width;
  const auto bytes = static_cast<size_t>(columns * width);
  if (is_plain() && has_rows()) {
    for (int64_t r = 0; r < rows; ++r) std::memcpy(out + r * pitch * width, values + r * stride, bytes);
    return;
  }
  if (common_epilogue_ && is_narrow_)
    return run_narrow_rows(args, place, rows, column, columns, values, stride);
  if (common_epilogue_) {
    kernels::row_epilogue(common_epilogue_->finish, rows, columns, values, stride,
                          common_epilogue_->operands(args, place, pitch, column),
                          reinterpret_cast<float*>(out), pitch);
    return;
  }
  std::array<const void*, kernels::kMaxPointwiseRegisters> operands;
  operands[0] = values;
  for (size_t i = 0; i < operands_.size(); ++i)
    operands[i + 1] = static_cast<const char*>(args.inputs[operands_[i].position]) +
                      (operands_[i].is_whole ? place : column * operands_[i].column_stride) *
                          static_cast<int64_t>(operands_[i].width);
  const bool whole = columns == pitch;
  void* results[] = {whole ? out : spare};
  for (const Loop& l : loops_)
    if (l.rows == rows && l.columns == columns) {
      l.loop.run(std::span(operands).first(operands_.size() + 1), results);
      break;
    }
  if (whole) return;
  for (int64_t r = 0; r < rows; ++r)
    std::memcpy(out + r * pitch * width, static_cast<const char*>(spare) + static_cast<size_t>(r) * bytes,
                bytes);
}

TiledProduct::TiledProduct(const StepReader& r, const ProductSize& size, const ProductTiles& tiles,
                           TileEpilogue finish)
    : size_(size), tiles_(tiles), finish_(std::move(finish)) {
  r.check_scratch(tiles_.scratch_bytes());
}

Status TiledProduct::run(const KernelArgs& args) noexcept {
  parallel_for(tiles_.chunks, 1, [&](int64_t first, int64_t last) {
    for (int64_t chunk = first; chunk < last; ++chunk) run_chunk(args, chunk);
  });
  return Status::kOk;
}

void TiledProduct::run_chunk(const KernelArgs& args, int64_t chunk) const {
  char* const scratch = static_cast<char*>(args.scratch) + chunk * (tiles_.left_bytes + 2 * tiles_.sum_bytes);
  char* const sums = scratch + tiles_.left_bytes;
  const int64_t tasks = tiles_.row_tiles * tiles_.groups;
  int64_t gathered = -1;
  const void* left = nullptr;
  for (int64_t task = tasks * chunk / tiles_.chunks; task < tasks * (chunk + 1) / tiles_.chunks; ++task) {
    const int64_t number = task / tiles_.groups, group = task % tiles_.groups;
    const int64_t row = number * tiles_.rows, rows = std::min(tiles_.rows, size_.m - row);
    if (gathered != number) left = gather(args, row, rows, scratch);
    gathered = number;
    const int64_t end = tiles_.column_blocks * (group + 1) / tiles_.groups;
    for (int64_t block = tiles_.column_blocks * group / tiles_.groups; block < end; ++block) {
      const int64_t column = block * tiles_.columns;
      compute(args, {row, rows, column, std::min(tiles_.columns, size_.n - column), tiles_.columns, left,
                     scratch, sums, sums + tiles_.sum_bytes});
    }
  }
}

}  // namespace assay::engine
