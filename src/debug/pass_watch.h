// The passes of a build, edit by edit.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "passes/edit_hook.h"
#include "passes/pass_set.h"

namespace assay::debug {

/// An edit that a pass made.
struct WatchedEdit {
  std::string pass;
  /// Labels of the nodes that it took out, or for a pass that works on the whole model of those that are not
  /// as they were; at most some ten.
  std::vector<std::string> nodes;

  bool operator==(const WatchedEdit&) const = default;
};

/// Passes that ask before each of their edits. Those without which no engine can be built
/// (PassStage::kLowering) are left as they are.
class PassWatch {
 public:
  /// Whether the edit at `position`, counted over all passes that run in a build, is made. Of a pass on the
  /// whole model no nodes are known then.
  using Allows = std::function<bool(size_t position, const WatchedEdit& edit)>;

  /// `passes`: those to watch.
  PassWatch(std::shared_ptr<const PassSet> passes, Allows allows);

  /// For one build; needs neither this object nor the set that it was made of to live on.
  std::shared_ptr<const PassSet> set() const { return set_; }
  /// Those that were made so far.
  const std::vector<WatchedEdit>& edits() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
  std::shared_ptr<const PassSet> set_;
};

}  // namespace assay::debug
