#include "tensor/npy.h"

#include "assay/error.h"
#include "fuzz/targets/numpy_inputs.h"
#include "fuzz/targets/target.h"

namespace assay::fuzz::target_npy {
namespace {

void run(std::string_view input) {
  const Tensor t = read_npy(input);
  const Tensor view = read_npy(input, std::shared_ptr<const void>(&input, [](const void*) {}));
  require(view.dtype() == t.dtype() && view.shape() == t.shape(), ErrorCode::kInternal,
          "a view is something else");
  if (t.dtype() == DType::kString)
    return;  // bytes and lone surrogates need not be UTF-8, which writing asks for
  std::string again;
  write_npy(t, [&](const void* data, size_t bytes) { again.append(static_cast<const char*>(data), bytes); });
  require(read_npy(again).identical(t), ErrorCode::kInternal, "an array does not survive being written");
}

void mutate(std::string& input, Random& random) { input = random_npy(random); }

}  // namespace

constinit const Target def = {.name = "npy",
                              .run = run,
                              .seeds = npy_seeds,
                              .mutate = mutate,
                              .words = kNumpyWords,
                              .most_bytes = 1024};

}  // namespace assay::fuzz::target_npy
