#include "kernels/copy/channel_blocks.h"

#include <gtest/gtest.h>

#include <vector>

namespace assay::kernels::channel_blocks_test {
namespace {

TEST(ChannelBlocks, EveryNumberFindsItsPlaceAndBack) {
  for (const int64_t images : {1, 3})
    for (const int64_t channels : {1, 8, 16, 21, 48})
      for (const int64_t pixels : {1, 7, 8, 100, 2500})
        for (const int64_t block : {4, 8, 16}) {
          const ChannelBlocks size{images, channels, pixels, block};
          const int64_t blocks = (channels + block - 1) / block;
          std::vector<float> last(static_cast<size_t>(images * pixels * channels)),
              blocked(static_cast<size_t>(images * blocks * pixels * block + 1), 77),
              back(last.size() + 1, 77);
          for (size_t i = 0; i < last.size(); ++i) last[i] = static_cast<float>(i + 1);
          into_blocks(size, last.data(), blocked.data());
          for (int64_t n = 0; n < images; ++n)
            for (int64_t c = 0; c < blocks * block; ++c)
              for (int64_t p = 0; p < pixels; ++p)
                ASSERT_EQ(
                    blocked[static_cast<size_t>(((n * blocks + c / block) * pixels + p) * block + c % block)],
                    c < channels ? last[static_cast<size_t>((n * pixels + p) * channels + c)] : 0);
          ASSERT_EQ(blocked.back(), 77);
          out_of_blocks(size, blocked.data(), back.data());
          ASSERT_EQ(back.back(), 77);
          back.pop_back();
          ASSERT_EQ(back, last);
        }
}

}  // namespace
}  // namespace assay::kernels::channel_blocks_test
