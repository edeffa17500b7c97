#include "engine/tactics/product/panel_product_kernel.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/parallel.h"
#include "base/resident_memory.h"

namespace assay::engine {

namespace {

static_assert(kernels::kPanelColumns == ProductTiles::kColumns && kernels::kPanelRows == ProductTiles::kRows);

}  // namespace

StepReader read_panel_step(const Plan& plan, const Step& step) {
  return {plan, step, 3, kernels::kMaxPointwiseRegisters};
}

DType left_type(const StepReader& r) {
  const bool is_narrow = r.any_input(0).dtype == DType::kBFloat16;
  StepReader::check(!is_narrow || r.read<PanelFields>().rounds,
                    "its rows are bfloat16, and it does not multiply that");
  return is_narrow ? DType::kBFloat16 : DType::kFloat32;
}

RowProduct::RowProduct(const StepReader& r, size_t inputs, const ProductSize& size, const ProductTiles& tiles,
                       Gathers& gathers)
    : TiledProduct(r, size, tiles, TileEpilogue(r, inputs, size, tiles)),
      rounds_(r.read<PanelFields>().rounds),
      in_place_(left_type(r) == DType::kBFloat16 && gathers.wide == nullptr && size.k % 2 == 0),
      gathers_(std::move(gathers)) {
  const std::string type = r.read<PanelFields>().type;
  const auto dtype = dtype_from_name(type);
  StepReader::check(dtype && is_storage_type(*dtype), "it has panels of '{}'", type);
  StepReader::check(!rounds_ || (*dtype == DType::kBFloat16 && kernels::multiplies_bfloat16()),
                    "this processor does not multiply {}", type);
}

const void* RowProduct::gather(const KernelArgs& args, int64_t first, int64_t count,
                               void* scratch) const noexcept {
  const auto* const x = static_cast<const float*>(args.inputs[0]);
  if (in_place_) return static_cast<const uint16_t*>(args.inputs[0]) + first * size().k;
  if (rounds_)
    gathers_.narrow(x, first, count, static_cast<uint16_t*>(scratch));
  else if (gathers_.wide)
    gathers_.wide(x, first, count, static_cast<float*>(scratch));
  else
    return x;
  return scratch;
}

RowProduct::Sums RowProduct::sums_of(const KernelArgs& args, const Tile& tile) const noexcept {
  if (finish().is_plain() && finish().has_rows() && tile.columns % kernels::kPanelColumns == 0)
    return {reinterpret_cast<float*>(finish().result(args, tile.row, tile.column)), size().n, true};
  return {static_cast<float*>(tile.sums), tile.stride, false};
}

void RowProduct::finish_sums(const KernelArgs& args, const Tile& tile, const Sums& sums) const noexcept {
  if (!sums.are_direct)
    finish().run(args, tile.row, tile.rows, tile.column, tile.columns, sums.first, sums.stride, tile.spare);
}

PanelKernel::PanelKernel(const StepReader& r, const ProductSize& size, Gathers gathers)
    : RowProduct(r, 3, size,
                 panel_tiles(size, gathers.wide != nullptr, r.read<PanelFields>().rounds, r.plan().threads),
                 gathers) {
  matrix_ = {size.n, size.k, *dtype_from_name(r.read<PanelFields>().type)};
  r.product({size.k, matrix_.panels(), kernels::kPanelColumns * 4});
  r.check_elements(r.row_input(1, DType::kUInt8), {matrix_.bytes()});
  r.optional_elements(2, {matrix_.panels(), kernels::kPanelColumns});
}

void PanelKernel::compute(const KernelArgs& args, const Tile& tile) const noexcept {
  const int64_t panel = tile.column / kernels::kPanelColumns,
                count = (tile.columns + kernels::kPanelColumns - 1) / kernels::kPanelColumns;
  const float* const bias =
      args.inputs[2] == nullptr ? nullptr : static_cast<const float*>(args.inputs[2]) + tile.column;
  const Sums sums = sums_of(args, tile);
  if (rounds())
    kernels::bfloat16_product(matrix_, args.inputs[1], panel, count, static_cast<const uint16_t*>(tile.left),
                              narrow_length(size().k), tile.rows, bias, sums.first, sums.stride);
  else
    for_rows(tile, [&](const kernels::PanelRows& a, int64_t first, int64_t rows) {
      kernels::panel_product(matrix_, args.inputs[1], panel, count, a, rows, bias,
                             sums.first + first * sums.stride, sums.stride);
    });
  finish_sums(args, tile, sums);
}

}  // namespace assay::engine
