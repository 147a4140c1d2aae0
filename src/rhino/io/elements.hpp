// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <rhino/io/hdf5.hpp>
#include <rhino/ir/literal.hpp>
#include <rhino/ir/types.hpp>

namespace rhino::io {

/// Converts elements: any type to any, as StableHLO's `convert` does for values that fit (floating types round to nearest
/// even, integers widen exactly; a floating value becomes an integer by truncation and saturates, NaN becomes 0).
/// `in` and `out` hold equally many elements.
void convert_elements(ir::DType from, std::span<const std::byte> in, ir::DType to, std::span<std::byte> out);

/// One element of `dtype` from a double, rounded once.
void store_element(ir::DType dtype, double value, std::byte* out);

/// Whether data of type `from` may fill a tensor of type `to` without a word from the user: equal types, floating types
/// among each other, integers that widen, booleans and bytes.
bool may_convert_data(ir::DType from, ir::DType to);

/// How a tensor of `dtype` is stored in a file: bf16 as u16 and i1 as u8, marked by an attribute `dtype`.
Hdf5Type storage_type(ir::DType dtype);
/// Element type that a data set holds, by its type and its `dtype` attribute; nullopt for text and others.
std::optional<ir::DType> stored_dtype(const Hdf5DataSet& set);

/// Creates a data set for a tensor, with the `dtype` attribute where the file type does not say it.
Hdf5DataSet create_tensor(Hdf5Group& group, const std::string& path, const ir::TensorType& type, bool deflate);
/// Writes a whole tensor; one whose elements are all equal is deflated.
void write_tensor(Hdf5Group& group, const std::string& path, const ir::Literal& literal);
/// Reads a whole tensor that must have type `type`. A bf16 tensor may also be stored as f32 (NumPy has no bf16) and is then
/// rounded; i1 may be stored as u8 or as h5py's boolean. Throws InputError otherwise, and for i1 bytes beyond 1.
ir::Literal read_tensor(const Hdf5DataSet& set, const ir::TensorType& type);
/// Throws InputError unless read_tensor would accept type and shape.
void check_tensor(const Hdf5DataSet& set, const ir::TensorType& type);

/// Reads the elements with the given global indices per dimension (row-major product of the lists; -1 gives zeros),
/// converted to `dtype`, in slabs of bounded memory.
void read_elements(const Hdf5DataSet& set, ir::DType stored, const std::vector<std::vector<std::int64_t>>& indices,
                   ir::DType dtype, std::span<std::byte> out);

}  // namespace rhino::io
