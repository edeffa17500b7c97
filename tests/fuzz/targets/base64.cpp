#include "base/base64.h"

#include "assay/error.h"
#include "fuzz/targets/target.h"

namespace assay::fuzz::target_base64 {
namespace {

void run(std::string_view input) {
  const size_t size = base64_decoded_size(input);
  const std::string all = base64_decode(input);
  // Parts are what they are of the whole, and a text without bits beyond its end is what encoding gives.
  for (size_t first = 0; first < size; first += 1 + size / 5) {
    std::string part((size - first) / 2, '\0');
    base64_decode(input, first, part.size(), part.data());
    require(all.compare(first, part.size(), part) == 0, ErrorCode::kInternal,
            "a part decodes to something else");
  }
  const std::string again = base64_encode(all);
  require(again.size() == input.size() && base64_decode(again) == all, ErrorCode::kInternal,
          "bytes do not survive");
}

std::vector<std::string> seeds() {
  return {"",     "QQ==", "QUI=", "QUJD", "QUJDRA==", base64_encode(std::string(100, '\xAB')),
          "====", "A===", "QQ=Q"};
}

constexpr std::string_view kWords[] = {"=", "==", "AAAA", "/+/+", "-_", "\n"};

}  // namespace

constinit const Target def = {
    .name = "base64", .run = run, .seeds = seeds, .words = kWords, .most_bytes = 512};

}  // namespace assay::fuzz::target_base64
