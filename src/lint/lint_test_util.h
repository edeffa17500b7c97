// Shared parts of this folder's tests.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/atomic_file.h"
#include "base/log.h"
#include "base/temporary_folder.h"
#include "lint/lint.h"

namespace assay::lint {

/// A temporary folder.
class LintTest : public testing::Test {
 protected:
  Report lint(const std::string& bytes, bool upstream_only = false) {
    options.path = folder_ / "model.onnx";
    AtomicFile file(options.path);
    file.write(bytes);
    file.commit();
    options.upstream_only = upstream_only;
    output.clear();
    options.on_finding = [&](const Finding& f) { output += finding_text(f) + "\n"; };
    options.on_warning = [&](const std::string& text) { output += text + "\n"; };
    return check_model(options);
  }

  const TemporaryFolder folder_;
  std::string output;
  LintOptions options;
};

/// `rule node: message`, one a line.
inline std::string lines(const Report& report) {
  std::string text;
  for (const Entry& e : report.entries()) text += fmt::format("{} {}: {}\n", e.rule->name, e.node, e.message);
  return text;
}

/// A model around nodes: inputs x and c, output y.
inline std::string model(std::string_view nodes, std::string_view values = "", std::string_view after = "",
                         std::string_view opsets = "\"\" : 21") {
  return fmt::format(
      "<ir_version: 10, opset_import: [{}]>\ng (float[2, 3] x, bool c) => (float[2, 3] "
      "y)\n{}\n{{\n{}\n}}\n{}",
      opsets, values, nodes, after);
}

}  // namespace assay::lint
