// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <bit>
#include <cstring>

#include <rhino/kernels/reference/element.hpp>
#include <rhino/kernels/reference/op_context.hpp>
#include <rhino/kernels/reference/strided.hpp>

namespace rhino::kernels::reference {
namespace {

using Word = std::uint32_t;
using Wide = std::uint64_t;

Word low(Wide x) { return static_cast<Word>(x); }
Word high(Wide x) { return static_cast<Word>(x >> 32); }
Wide join(Word low_word, Word high_word) { return (static_cast<Wide>(high_word) << 32) | low_word; }

/// Threefry-2x32 with 20 rounds: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
std::array<Word, 2> threefry(Wide counter, Wide key) {
  constexpr int rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const std::array<Word, 3> keys = {low(key), high(key), low(key) ^ high(key) ^ 0x1BD11BDAu};
  Word x = low(counter) + keys[0], y = high(counter) + keys[1];
  for (unsigned group = 0; group < 5; ++group) {
    for (const int rotation : rotations[group % 2]) {
      x += y;
      y = std::rotl(y, rotation) ^ x;
    }
    x += keys[(group + 1) % 3];
    y += keys[(group + 2) % 3] + group + 1;
  }
  return {x, y};
}

/// Philox-4x32 with 10 rounds, same source.
std::array<Word, 4> philox(Wide counter_low, Wide counter_high, Wide key) {
  std::array<Word, 4> x = {low(counter_low), high(counter_low), low(counter_high), high(counter_high)};
  Word key_0 = low(key), key_1 = high(key);
  for (int round = 0; round < 10; ++round) {
    const Wide product_0 = static_cast<Wide>(x[0]) * 0xD2511F53u, product_1 = static_cast<Wide>(x[2]) * 0xCD9E8D57u;
    x = {high(product_1) ^ x[1] ^ key_0, low(product_1), high(product_0) ^ x[3] ^ key_1, low(product_0)};
    key_0 += 0x9E3779B9u;
    key_1 += 0xBB67AE85u;
  }
  return x;
}

/// Stores the low bits of `bits` as element `i`.
void store(Tensor& tensor, std::int64_t i, Wide bits) {
  const std::size_t width = ir::dtype_bytes(tensor.type.dtype);
  if (tensor.type.dtype == ir::DType::I1) bits &= 1;
  static_assert(std::endian::native == std::endian::little);
  std::memcpy(tensor.bytes.data() + static_cast<std::size_t>(i) * width, &bits, width);
}

/// XLA's assignment of counters to elements: 64-bit elements have one counter each; for narrower ones the first even
/// dimension (else the longest) is halved, and the two words of a counter go to neighbours along it.
/// Returns how many counters were used.
Wide fill_threefry(Tensor& bits, Wide counter, Wide key) {
  const ir::Dims& dims = bits.type.dims;
  const std::int64_t count = bits.type.elements();
  if (ir::dtype_bytes(bits.type.dtype) == 8) {
    for (std::int64_t i = 0; i < count; ++i) {
      const auto words = threefry(counter + static_cast<Wide>(i), key);
      store(bits, i, join(words[0], words[1]));
    }
    return static_cast<Wide>(count);
  }
  if (dims.empty()) {
    store(bits, 0, threefry(counter, key)[0]);
    return 1;
  }
  std::size_t split = dims.size();
  for (std::size_t d = 0; d < dims.size() && split == dims.size(); ++d)
    if (dims[d] % 2 == 0) split = d;
  if (split == dims.size()) {
    split = 0;
    for (std::size_t d = 1; d < dims.size(); ++d)
      if (dims[d] > dims[split]) split = d;
  }
  ir::Dims half = dims;
  half[split] = (dims[split] + 1) / 2;
  const ir::Dims strides = ir::row_major_strides(dims);
  Wide used = 0;
  for (Odometer place(half); !place.done(); place.next(), ++used) {
    const auto words = threefry(counter + used, key);
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < dims.size(); ++d) offset += place[d] * strides[d] * (d == split ? 2 : 1);
    store(bits, offset, words[0]);
    if (2 * place[split] + 1 < dims[split]) store(bits, offset + strides[split], words[1]);
  }
  return used;
}

/// Four words (or two double words) of each counter to consecutive elements. Returns how many counters were used.
Wide fill_philox(Tensor& bits, Wide counter_low, Wide counter_high, Wide key) {
  const std::int64_t count = bits.type.elements();
  const bool wide = ir::dtype_bytes(bits.type.dtype) == 8;
  const std::int64_t per_counter = wide ? 2 : 4;
  Wide used = 0;
  for (std::int64_t i = 0; i < count; i += per_counter, ++used) {
    const Wide position = counter_low + used;
    const auto words = philox(position, counter_high + (position < counter_low ? 1 : 0), key);
    for (std::int64_t k = 0; k < per_counter && i + k < count; ++k) {
      const auto w = static_cast<std::size_t>(k);
      store(bits, i + k, wide ? join(words[2 * w], words[2 * w + 1]) : words[w]);
    }
  }
  return used;
}

}  // namespace

std::vector<Tensor> run_rng_bit_generator(const OpContext& context) {
  const auto& attrs = context.attrs<ir::RngBitGeneratorAttrs>();
  std::vector<Tensor> results;
  results.push_back(context.operand(0));
  results.emplace_back(context.result_type(1));
  Tensor& state = results[0];
  RHINO_CHECK(state.type.dtype == ir::DType::U64 && state.bytes.size() >= 16,
              "{}: the state must be two or three ui64, not {}", describe(context.op), ir::to_string(state.type));
  const auto words = state.as<Wide>();
  if (attrs.algorithm == ir::RngAlgorithm::ThreeFry) {
    words[1] += fill_threefry(results[1], words[1], words[0]);
    return results;
  }
  // Philox, also the default as in XLA: with a state of two words the key is the upper half of the counter, too.
  const Wide counter = words[1];
  const Wide used = fill_philox(results[1], counter, words.size() >= 3 ? words[2] : words[0], words[0]);
  words[1] = counter + used;
  if (words.size() >= 3 && words[1] < counter) words[2] += 1;
  return results;
}

}  // namespace rhino::kernels::reference
