// SPDX-License-Identifier: Apache-2.0
#include <rhino/base/random.hpp>

#include <cmath>

#include <gtest/gtest.h>

namespace rhino {
namespace {

using Four = std::array<std::uint32_t, 4>;
using Two = std::array<std::uint32_t, 2>;
constexpr std::uint32_t kOnes = 0xffffffffu;

// Known answers published with the Random123 library.
TEST(Random, PhiloxKnownAnswers) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}), (Four{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (Four{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Four{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, ThreefryKnownAnswers) {
  EXPECT_EQ(threefry2x32({0, 0}, {0, 0}), (Two{0x6b200159, 0x99ba4efe}));
  EXPECT_EQ(threefry2x32({kOnes, kOnes}, {kOnes, kOnes}), (Two{0x1cb996fc, 0xbb002be7}));
  EXPECT_EQ(threefry2x32({0x243f6a88, 0x85a308d3}, {0x13198a2e, 0x03707344}), (Two{0xc4923a9c, 0x483df7a0}));
}

struct Moments {
  double mean = 0, variance = 0, least = 1e300, greatest = -1e300;
};

template <class Draw>
Moments moments(Draw draw) {
  constexpr int kCount = 100000;
  Moments result;
  for (int i = 0; i < kCount; ++i) {
    const double value = draw(static_cast<std::uint64_t>(i));
    result.mean += value / kCount;
    result.variance += value * value / kCount;
    result.least = std::min(result.least, value);
    result.greatest = std::max(result.greatest, value);
  }
  result.variance -= result.mean * result.mean;
  return result;
}

TEST(Random, DistributionsHaveTheirMoments) {
  const RandomStream stream{42, 3};
  const Moments uniform = moments([&](std::uint64_t i) { return stream.uniform(i); });
  EXPECT_NEAR(uniform.mean, 0.5, 0.005);
  EXPECT_NEAR(uniform.variance, 1.0 / 12, 0.002);
  EXPECT_GE(uniform.least, 0.0);
  EXPECT_LT(uniform.greatest, 1.0);
  const Moments normal = moments([&](std::uint64_t i) { return stream.normal(i); });
  EXPECT_NEAR(normal.mean, 0.0, 0.015);
  EXPECT_NEAR(normal.variance, 1.0, 0.02);
  EXPECT_GT(normal.greatest, 3.5);
  const Moments truncated = moments([&](std::uint64_t i) { return stream.truncated_normal(i); });
  EXPECT_NEAR(truncated.mean, 0.0, 0.015);
  EXPECT_NEAR(truncated.variance, 0.7737, 0.02);  // 1 - 4 phi(2) / (2 Phi(2) - 1)
  EXPECT_LE(truncated.greatest, 2.0);
  EXPECT_GE(truncated.least, -2.0);
}

TEST(Random, DependsOnSeedStreamAndTheWholeIndex) {
  const RandomStream stream{1, 0};
  EXPECT_EQ(stream.bits(5), (RandomStream{1, 0}.bits(5)));
  EXPECT_NE(stream.bits(5), (RandomStream{2, 0}.bits(5)));
  EXPECT_NE(stream.bits(5), (RandomStream{1 + (1ull << 32), 0}.bits(5)));
  EXPECT_NE(stream.bits(5), (RandomStream{1, 1}.bits(5)));
  EXPECT_NE(stream.bits(5), stream.bits(5 + (1ull << 32)));
}

}  // namespace
}  // namespace rhino
