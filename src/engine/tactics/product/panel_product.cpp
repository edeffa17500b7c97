#include "engine/tactics/product/panel_product.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/parallel.h"
#include "base/resident_memory.h"

namespace assay::engine {
namespace {

/// Bytes of gathered rows that stay in the caches.
constexpr int64_t kPanelLeftBytes = 512 << 10;
constexpr int64_t kMinPanelRows = 60, kMaxPanelRows = 192;
static_assert(kernels::kPanelColumns == ProductTiles::kColumns && kernels::kPanelRows == ProductTiles::kRows);

kernels::PanelType panel_type(DType dtype) {
  return dtype == DType::kFloat16    ? kernels::PanelType::kFloat16
         : dtype == DType::kBFloat16 ? kernels::PanelType::kBfloat16
                                     : kernels::PanelType::kFloat32;
}

/// Of rows in bfloat16: pairs are multiplied.
int64_t narrow_length(int64_t k) { return k + k % 2; }

/// Rows that lie in memory are read again for every block of columns, in order: they need not stay in a
/// cache.
constexpr int64_t kMaxLyingRows = 256;
constexpr int64_t kPanelSumBytes = 64 << 10;

/// Of a source, packed at a time.
constexpr int64_t kPieceBytes = int64_t{4} << 20;

struct PanelFields {
  std::string type = "float32";  ///< of the stored matrix
  bool rounds = false;           ///< the rows, to bfloat16

  void fields(FieldVisitor& visit) {
    visit("type", type);
    visit("rounds", rounds);
  }
};

ProductTiles panel_tiles(const ProductSize& size, bool gathered, bool rounds, int threads) {
  if (!gathered && !rounds)
    return product_tiles(size, 0, kMaxLyingRows, threads, 1, kPanelSumBytes, kernels::kPanelGroup);
  const int64_t row_bytes = rounds ? narrow_length(size.k) * 2 : size.k * 4;
  return product_tiles(size, row_bytes, std::clamp(kPanelLeftBytes / row_bytes, kMinPanelRows, kMaxPanelRows),
                       threads, 1, kTileSumBytes, rounds ? 1 : kernels::kPanelGroup);
}

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
  const auto add = [&](std::string variant, NumericsClass numerics, DType dtype, bool rounds) {
    const kernels::PanelMatrix matrix{size.n, size.k, panel_type(dtype)};
    if (layout.is_blocked()) variant += " " + layout.str();
    Candidate& b = proposals.add(std::move(variant), numerics);
    b.add_input(x, layout);
    if (dtype != DType::kFloat32) b.arithmetic = dtype;
    b.add_constant(
        source.weights->name(), weights,
        fmt::format("{} in panels of {} {}", source.packing, kernels::kPanelColumns, dtype_name(dtype)),
        [weights, matrix, source] { return pack(weights, matrix, source); });
    add_padded_bias(source.bias, source.bias_scale, matrix.filled_columns(), b);
    b.add_output(p.region().output(), layout);
    b.write(PanelFields{.type = std::string(dtype_name(dtype)), .rounds = rounds});
    b.step.scratch_bytes = panel_tiles(size, gathered, rounds, p.config().threads).scratch_bytes();
    b.estimate =
        estimate_seconds(2.0 * static_cast<double>(size.m) * static_cast<double>(matrix.filled_columns()) *
                             static_cast<double>(size.k),
                         static_cast<double>(matrix.bytes()), rounds ? 2 * efficiency : efficiency);
    finish(b);
    write_tile_epilogue(p, epilogue, layout, b);
  };
  for (const StoredForm& form : stored_forms_of(p, weights))
    add(std::string(dtype_name(form.dtype)), form.numerics, form.dtype, false);
  if (p.config().precisions.bfloat16 && kernels::multiplies_bfloat16())
    add("bfloat16_products", NumericsClass::kLowered, DType::kBFloat16, true);
}

StepReader read_panel_step(const Plan& plan, const Step& step) {
  return {plan, step, 3, kernels::kMaxPointwiseRegisters};
}

PanelKernel::PanelKernel(const StepReader& r, const ProductSize& size, const kernels::ImagePlaces& lying,
                         Gather gather, NarrowGather narrow_gather)
    : PanelKernel(r, size,
                  panel_tiles(size, gather != nullptr, r.read<PanelFields>().rounds, r.plan().threads), lying,
                  gather, narrow_gather) {}

PanelKernel::PanelKernel(const StepReader& r, const ProductSize& size, const ProductTiles& tiles,
                         const kernels::ImagePlaces& lying, Gather& gather, NarrowGather& narrow_gather)
    : TiledProduct(r, size, tiles, TileEpilogue(r, 3, size, tiles)),
      rounds_(r.read<PanelFields>().rounds),
      lying_(lying),
      gather_(std::move(gather)),
      narrow_gather_(std::move(narrow_gather)) {
  const std::string type = r.read<PanelFields>().type;
  const auto dtype = dtype_from_name(type);
  StepReader::check(dtype && is_storage_type(*dtype), "it has panels of '{}'", type);
  StepReader::check(!rounds_ || (*dtype == DType::kBFloat16 && kernels::multiplies_bfloat16()),
                    "this processor does not multiply {}", type);
  matrix_ = {size.n, size.k, panel_type(*dtype)};
  r.product({size.k, matrix_.panels(), kernels::kPanelColumns * 4});
  r.check_elements(r.row_input(1, DType::kUInt8), {matrix_.bytes()});
  r.optional_elements(2, {matrix_.panels(), kernels::kPanelColumns});
}

const void* PanelKernel::gather(const KernelArgs& args, int64_t first, int64_t count,
                                void* scratch) const noexcept {
  const auto* const x = static_cast<const float*>(args.inputs[0]);
  if (rounds_)
    narrow_gather_(x, first, count, static_cast<uint16_t*>(scratch));
  else if (gather_)
    gather_(x, first, count, static_cast<float*>(scratch));
  else
    return x;
  return scratch;
}

void PanelKernel::compute(const KernelArgs& args, const Tile& tile) const noexcept {
  const int64_t panel = tile.column / kernels::kPanelColumns,
                count = (tile.columns + kernels::kPanelColumns - 1) / kernels::kPanelColumns;
  const float* const bias =
      args.inputs[2] == nullptr ? nullptr : static_cast<const float*>(args.inputs[2]) + tile.column;
  const bool direct =
      finish().is_plain() && finish().has_rows() && tile.columns % kernels::kPanelColumns == 0;
  auto* const sums = direct ? reinterpret_cast<float*>(finish().result(args, tile.row, tile.column))
                            : static_cast<float*>(tile.sums);
  const int64_t stride = direct ? size().n : tile.stride;
  const auto multiply = [&](const kernels::PanelRows& a, int64_t first, int64_t rows) {
    kernels::panel_product(matrix_, args.inputs[1], panel, count, a, rows, bias, sums + first * stride,
                           stride);
  };
  const int64_t k = size().k;
  if (rounds_) {
    kernels::bfloat16_product(matrix_, args.inputs[1], panel, count, static_cast<const uint16_t*>(tile.left),
                              narrow_length(k), tile.rows, bias, sums, stride);
  } else if (const auto* const left = static_cast<const float*>(tile.left); gather_) {
    multiply({left, k}, 0, tile.rows);
  } else if (lying_.block == k) {
    multiply({left + tile.row * k, k}, 0, tile.rows);
  } else {
    // Rows of one image at a time.
    for (int64_t r = 0, some = 0; r < tile.rows; r += some) {
      some = std::min(tile.rows - r, lying_.pixels - (tile.row + r) % lying_.pixels);
      multiply({left + lying_.of(tile.row + r, 0), lying_.block, lying_.block, lying_.block_distance()}, r,
               some);
    }
  }
  if (!direct) finish().run(args, tile.row, tile.rows, tile.column, tile.columns, sums, stride, tile.spare);
}

}  // namespace assay::engine
