#include "ops/positive_symbols.h"

#include <algorithm>

namespace assay {
namespace {

thread_local const PositiveSymbols* current = nullptr;

}  // namespace

PositiveSymbols::PositiveSymbols(std::span<const Dims> shapes) : outer_(current) {
  for (const Dims& dims : shapes)
    for (const Dim& d : dims) {
      if (!d.is_symbol()) continue;
      // Of a sum only the whole is known, not its parts.
      const std::optional<ExtentForm> form = ExtentForm::of(d);
      if (form && *form == ExtentForm::factor(d.symbol())) symbols_.insert(d.symbol());
    }
  current = this;
}

PositiveSymbols::~PositiveSymbols() { current = outer_; }

bool PositiveSymbols::is_never_negative(const ExtentForm& form) {
  const bool are_positive =
      current != nullptr && std::all_of(form.terms().begin(), form.terms().end(), [](const auto& term) {
        return std::all_of(term.first.begin(), term.first.end(),
                           [](const std::string& factor) { return current->symbols_.contains(factor); });
      });
  return form.is_never_negative(are_positive ? 1 : 0);
}

}  // namespace assay
