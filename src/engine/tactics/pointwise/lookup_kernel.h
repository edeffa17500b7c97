// Steps of the tactic lookup: their parameters, and the kernel that runs them.
#pragma once

#include <array>
#include <optional>

#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "kernels/pointwise/byte_table.h"

namespace assay::engine {

/// The entries of a table, by the bits of the operand.
using TableEntries = std::array<int64_t, 256>;

TableEntries entries_of(const kernels::ByteTable& table);
kernels::ByteTable bytes_of(const TableEntries& entries);

/// The function that a step applies to its result of 8 bits, if any.
struct ResultTable {
  std::optional<TableEntries> table = {};

  void fields(FieldVisitor& visit) { visit("result_table", table, Bounds{0, 255}); }
};

}  // namespace assay::engine

namespace assay::engine::tactic_lookup {

struct StepFields {
  TableEntries table = {};

  void fields(FieldVisitor& visit) { visit("table", table, {0, 255}); }
};

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_lookup
