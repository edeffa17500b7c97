// The set of available backends: the built-in ones, and those that modules add.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "assay/api.h"
#include "assay/backend.h"

namespace ASSAY_API assay {

/// Lookups are safe from any thread as long as no backend is being added.
class BackendSet {
 public:
  /// Appends. `backend` must live as long as the set; `owner`, if any, is kept until then. Throws Error when
  /// another backend has its name, or is chosen by its option.
  void add(const Backend& backend, std::shared_ptr<const void> owner = nullptr);

  /// In the order of `run --help`.
  std::span<const Backend* const> all() const { return backends_; }
  /// By name; null when there is none.
  const Backend* find(std::string_view name) const;
  /// As find(). Throws Error (kNotFound) that lists the names when there is none.
  const Backend& get(std::string_view name) const;

 private:
  std::vector<const Backend*> backends_;
  std::vector<std::shared_ptr<const void>> owners_;
};

/// The built-in backends: engine, onnxrt, reference.
const BackendSet& built_in_backends();

}  // namespace assay
