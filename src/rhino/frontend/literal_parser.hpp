// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include <rhino/frontend/source.hpp>
#include <rhino/ir/literal.hpp>

namespace rhino::frontend {

/// Where a literal stands, for messages.
struct LiteralPlace {
  const Source& source;
  std::string_view subject;
  std::size_t position;
};

/// The literal `dense<body> : type`. Reads nested lists, splats, hexadecimal element bits and `"0x.."` byte strings.
/// Allocates no more than the body has, whatever the type says.
ir::Literal parse_dense(std::string_view body, ir::TensorType type, const LiteralPlace& place);

/// The literal of an HLO `constant(body)`: nested braces or a scalar.
ir::Literal parse_hlo_literal(std::string_view body, ir::TensorType type, const LiteralPlace& place);

/// A literal from raw bytes: little-endian, row-major; booleans one per byte or eight per byte, whichever fits; one
/// element stands for all.
ir::Literal literal_from_bytes(std::vector<std::byte> bytes, ir::TensorType type, const LiteralPlace& place);

/// Bytes of a text of hexadecimal digits.
std::vector<std::byte> decode_hex(std::string_view digits, const LiteralPlace& place);

/// Appends one element, spelled as in MLIR or in HLO text ("1.5", "-inf", "true", "0x7FC0"), to `bytes`.
void append_element(std::string_view spelling, ir::DType dtype, std::vector<std::byte>& bytes,
                    const LiteralPlace& place);

}  // namespace rhino::frontend
