#include "tensor/npz.h"

#include "assay/error.h"
#include "fuzz/targets/numpy_inputs.h"
#include "fuzz/targets/target.h"

namespace assay::fuzz::target_npz {
namespace {

void run(std::string_view input) {
  const NpzReader archive(input);
  size_t bytes = 0;
  for (const NamedTensor& t : archive.load_all()) bytes += t.tensor.nbytes();
  // Deflate packs at most 1032 bytes into one, and entries do not overlap; unpacked booleans and strings are
  // not larger.
  require(bytes <= 1032 * input.size(), ErrorCode::kInternal, "{} bytes come out of {}", bytes, input.size());
}

void mutate(std::string& input, Random& random) { input = random_npz(random); }

}  // namespace

constinit const Target def = {.name = "npz",
                              .run = run,
                              .seeds = npz_seeds,
                              .mutate = mutate,
                              .words = kNumpyWords,
                              .most_bytes = 2048};

}  // namespace assay::fuzz::target_npz
