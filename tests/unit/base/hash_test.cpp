// SPDX-License-Identifier: Apache-2.0
#include <rhino/base/hash.hpp>

#include <gtest/gtest.h>

#include <rhino/base/error.hpp>

namespace rhino {
namespace {

TEST(Hash, EmptyInputHasThePublishedValues) {
  // Test values of the XXH3 specification.
  EXPECT_EQ(hash64(""), 0x2d06800538d394c2ull);
  EXPECT_EQ(to_string(hash128("")), "99aa06d3014798d86001c324468d497f");
}

TEST(Hash, TextRoundTrip) {
  const Hash128 hash = hash128("rhino");
  EXPECT_EQ(hash128_from_string(to_string(hash)), hash);
  EXPECT_NE(hash, hash128("Rhino"));
}

TEST(Hash, BrokenTextIsAnError) {
  EXPECT_THROW(hash128_from_string(""), InputError);
  EXPECT_THROW(hash128_from_string(std::string(31, '0')), InputError);
  EXPECT_THROW(hash128_from_string(std::string(32, 'g')), InputError);
  EXPECT_THROW(hash128_from_string("0x" + std::string(30, '0')), InputError);
}

TEST(Hash, SeedChangesTheValue) { EXPECT_NE(hash64("a", 1), hash64("a", 2)); }

}  // namespace
}  // namespace rhino
