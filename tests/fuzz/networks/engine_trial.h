// A network on an engine that is built at random, against the reference.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "assay/graph.h"
#include "fuzz/random.h"

namespace assay::fuzz {

/// The outcome of one engine.
struct Trial {
  std::string problem;  ///< one sentence; empty: none
  int outputs = 0, unclear = 0;
  std::map<std::string, int> tactics;  ///< steps by the tactic that runs them
};

/// Builds an engine in which every region runs on any of its candidates, whatever it costs, for any number of
/// threads from 1 to 16; runs it twice, and once more after it was saved, and judges what it gives by the
/// arbiter.
Trial try_engine(const std::shared_ptr<const Model>& model, const std::vector<Tensor>& feed, Random& r);

}  // namespace assay::fuzz
