// Does what was inferred of a value hold for the value that was computed?
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "assay/tensor.h"
#include "assay/type.h"

namespace assay {

/// Values of symbols, and of expressions that shape inference makes of them: sums, differences, products and
/// quotients rounded down, with parentheses.
class Symbols {
 public:
  /// Nothing when the text is not an expression over known symbols.
  std::optional<int64_t> value(std::string_view text) const;
  void bind(const std::string& symbol, int64_t value) { known_.emplace(symbol, value); }

 private:
  std::map<std::string, int64_t, std::less<>> known_;
};

/// Empty when the type allows the value; otherwise what was inferred and what was computed. Symbols that are
/// not known yet are bound to what they must be; those in the type of a sequence's elements, which differ
/// from element to element, are left out.
std::string contradiction(const Type& type, const Tensor& value, Symbols& symbols);

}  // namespace assay
