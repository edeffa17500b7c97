#include "engine/tactics/product/panel_product.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/parallel.h"
#include "base/resident_memory.h"

namespace assay::engine {

namespace {

/// Of a source, packed at a time.
constexpr int64_t kPieceBytes = int64_t{4} << 20;

Tensor pack(const UnalignedTensor& weights, const kernels::PanelMatrix& matrix, const PanelSource& source) {
  Tensor packed = Tensor::allocate(DType::kUInt8, Shape{matrix.bytes()});
  if (source.arrange) {
    const Tensor all = weights.aligned();
    const std::vector<float> arranged = source.arrange(all.data<float>());
    kernels::pack_panels(matrix, arranged.data(), source.row_stride, source.column_stride,
                         packed.mutable_data());
    return packed;
  }
  // Where columns lie in one piece, each piece of the source is let go of when it has been packed.
  const bool in_pieces = source.row_stride == 1;
  const int64_t column_bytes = source.column_stride * 4,
                step = in_pieces
                           ? std::max<int64_t>(1, kPieceBytes / (kernels::kPanelColumns * column_bytes)) *
                                 kernels::kPanelColumns
                           : matrix.n;
  for (int64_t column = 0; column < matrix.n; column += step) {
    const kernels::PanelMatrix piece{std::min(step, matrix.n - column), matrix.k, matrix.type};
    const char* const from = static_cast<const char*>(weights.data()) + column * column_bytes;
    kernels::pack_panels(
        piece, from, source.row_stride, source.column_stride,
        static_cast<char*>(packed.mutable_data()) + column / kernels::kPanelColumns * matrix.panel_bytes());
    if (in_pieces) drop_after_use(from, static_cast<size_t>(piece.n * column_bytes));
  }
  return packed;
}

Tensor padded_bias(const UnalignedTensor& bias, double scale, int64_t columns) {
  const Tensor all = bias.aligned();
  Tensor padded = Tensor::allocate(DType::kFloat32, Shape{columns});
  std::fill_n(padded.mutable_data<float>(), columns, 0.0F);
  for (int64_t i = 0; i < all.numel(); ++i)
    padded.mutable_data<float>()[i] = static_cast<float>(all.data<float>()[i] * scale);
  return padded;
}

bool all_finite(const UnalignedTensor& t) {
  constexpr uint32_t kExponent = 0x7f800000;
  constexpr int64_t kBlock = 1024;
  constexpr int64_t kGrain = 64;  // blocks that are worth a thread
  std::atomic<bool> finite{true};
  parallel_for((t.numel() + kBlock - 1) / kBlock, kGrain, [&](int64_t first, int64_t last) {
    uint32_t bits[kBlock];  // the tensor may be at an odd address
    for (int64_t i = first * kBlock; i < std::min(last * kBlock, t.numel()); i += kBlock) {
      const int64_t count = std::min(kBlock, t.numel() - i);
      std::memcpy(bits, static_cast<const char*>(t.data()) + i * 4, static_cast<size_t>(count) * 4);
      uint32_t special = 0;
      for (int64_t k = 0; k < count; ++k) special |= (bits[k] & kExponent) == kExponent;
      if (special != 0) finite.store(false, std::memory_order_relaxed);
    }
  });
  return finite.load();
}

}  // namespace

std::vector<StoredRows> stored_rows(const Problem& p, const Value* x, const Value* y, Layout layout) {
  std::vector<StoredRows> rows = {{}};
  if (layout.is_blocked()) return rows;
  const bool reads = may_be_stored_in(p, x, DType::kBFloat16),
             stores = may_be_stored_in(p, y, DType::kBFloat16);
  if (stores) rows.push_back({.result = DType::kBFloat16});
  if (reads) rows.push_back({.left = DType::kBFloat16});
  if (reads && stores) rows.push_back({DType::kBFloat16, DType::kBFloat16});
  return rows;
}

bool all_finite(const Problem& p, const UnalignedTensor& t) {
  return p.config().memo_of(t).get<bool>(fmt::format("all_finite {} {}", t.data(), t.nbytes()),
                                         [&] { return all_finite(t); });
}

void add_padded_bias(const Value* bias, double scale, int64_t columns, Candidate& b) {
  if (bias == nullptr) return b.skip_input();
  b.add_constant(bias->name(), bias->tensor(), fmt::format("x {} filled up to {}", scale, columns),
                 [source = bias->tensor(), scale, columns] { return padded_bias(source, scale, columns); });
}

void propose_panels(const Problem& p, const Value* x, const PanelSource& source, const ProductSize& size,
                    bool gathered, const std::vector<EpilogueStep>& epilogue, Layout layout,
                    double efficiency, const std::function<void(Candidate&)>& finish, Proposals& proposals) {
  const UnalignedTensor& weights = source.weights->tensor();
  const Value* const y = p.region().output();
  const auto add = [&](std::string variant, NumericsClass numerics, DType dtype, bool rounds,
                       const StoredRows& stored) {
    const kernels::PanelMatrix matrix{size.n, size.k, dtype};
    if (layout.is_blocked()) variant += " " + layout.str();
    Candidate& b = proposals.add(std::move(variant), numerics);
    b.add_input(x, {layout, stored.left});
    if (dtype != DType::kFloat32) b.arithmetic = dtype;
    b.add_constant(
        source.weights->name(), weights,
        fmt::format("{} in panels of {} {}", source.packing, kernels::kPanelColumns, dtype_name(dtype)),
        [weights, matrix, source] { return pack(weights, matrix, source); });
    add_padded_bias(source.bias, source.bias_scale, matrix.filled_columns(), b);
    b.add_output(y, {layout, stored.result});
    b.write(PanelFields{.type = std::string(dtype_name(dtype)), .rounds = rounds});
    b.step.scratch_bytes = panel_tiles(size, gathered, rounds, p.config().threads).scratch_bytes();
    b.estimate =
        estimate_seconds(2.0 * static_cast<double>(size.m) * static_cast<double>(matrix.filled_columns()) *
                             static_cast<double>(size.k),
                         static_cast<double>(matrix.bytes()), rounds ? 2 * efficiency : efficiency);
    b.estimate *= stored.share();
    finish(b);
    write_tile_epilogue(p, epilogue, {layout, stored.result}, b);
  };
  for (const StoredForm& form : stored_forms_of(p, weights))
    add(std::string(dtype_name(form.dtype)), form.numerics, form.dtype, false, {});
  if (!p.stores_bfloat16()) return;
  for (const StoredRows& stored : stored_rows(p, x, y, layout))
    add("bfloat16_products" + stored.name(), NumericsClass::kLowered, DType::kBFloat16, true, stored);
}

}  // namespace assay::engine
