// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include <rhino/base/error.hpp>

namespace rhino::test {

inline std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream stream(path, std::ios::binary | std::ios::trunc);
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// Cuts `good` off every `step` bytes and flips one bit every `step` bytes. `still_equal` reads the file at `path` and says
/// whether it is the same as the undamaged one; it may throw InputError or EnvironmentError, nothing else. A cut file must
/// always be refused.
inline void damage(const std::filesystem::path& path, const std::string& good, std::size_t step,
                   const std::function<bool()>& still_equal) {
  std::size_t refused = 0;
  const auto attempt = [&](const std::string& bytes, const std::string& what) {
    write_bytes(path, bytes);
    try {
      EXPECT_TRUE(still_equal()) << what << " was read as something else";
    } catch (const InputError& error) {
      ++refused;
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    } catch (const EnvironmentError&) {
      ++refused;
    }
  };
  for (std::size_t size = 0; size < good.size(); size += step) {
    const std::size_t before = refused;
    attempt(good.substr(0, size), "cut at " + std::to_string(size));
    EXPECT_EQ(refused, before + 1) << "a file cut at " << size << " of " << good.size() << " bytes was accepted";
  }
  for (std::size_t position = 0; position < good.size(); position += step) {
    std::string bytes = good;
    bytes[position] = static_cast<char>(bytes[position] ^ (1 << (position / step % 8)));
    attempt(bytes, "bit flip at byte " + std::to_string(position));
  }
  EXPECT_GT(refused, 0u);
  write_bytes(path, good);
}

}  // namespace rhino::test
