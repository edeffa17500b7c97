// A model that OpenVINO has compiled.
#pragma once

#include <assay/extension.h>

#include <string>
#include <utility>
#include <vector>

#include "library.h"

namespace ov {

struct SessionSettings {
  std::string device;
  std::vector<std::pair<std::string, std::string>> properties;  // of the compiled model
};

/// `path`: the file that holds exactly this model, or empty. Throws assay::ext::Error.
std::unique_ptr<assay::ext::Session> open_session(std::shared_ptr<const Library> library,
                                                  const assay::ext::Model& model, const std::string& path,
                                                  const SessionSettings& settings);

/// As many properties as a session can be given.
constexpr size_t kMaxProperties = 16;

}  // namespace ov
