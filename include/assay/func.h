// Modifies the results of loaders: Polygraphy's polygraphy.func.
#pragma once

#include <type_traits>
#include <utility>

#include "assay/api.h"

namespace ASSAY_API assay {
namespace poly::func {

/// A loader that passes the result of another one to `change`. If `change` returns something, that replaces
/// the result.
///
///   auto load = func::extend(NetworkFromOnnxPath("m.onnx"), [](Network& n) { n->graph->name = "mine"; });
template <typename Loader, typename Change>
auto extend(Loader loader, Change change) {
  return [loader = std::move(loader), change = std::move(change)]() mutable {
    auto value = loader();
    if constexpr (std::is_void_v<std::invoke_result_t<Change&, decltype(value)&>>) {
      change(value);
      return value;
    } else {
      return change(value);
    }
  };
}

}  // namespace poly::func
}  // namespace assay
