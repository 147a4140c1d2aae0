// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <hdf5.h>

#include <rhino/base/error.hpp>
#include <rhino/io/hdf5.hpp>

namespace rhino::io::detail {

static_assert(sizeof(hid_t) == sizeof(std::int64_t));

/// The reasons on HDF5's error stack, innermost first, on one line; clears the stack.
std::string hdf5_reasons();

inline Hdf5Handle own(hid_t id, Hdf5Handle::Close close) { return Hdf5Handle(id, close); }
inline int close_file(std::int64_t id) { return H5Fclose(id); }
inline int close_group(std::int64_t id) { return H5Gclose(id); }
inline int close_object(std::int64_t id) { return H5Oclose(id); }
inline int close_data_set(std::int64_t id) { return H5Dclose(id); }
inline int close_space(std::int64_t id) { return H5Sclose(id); }
inline int close_type(std::int64_t id) { return H5Tclose(id); }
inline int close_attribute(std::int64_t id) { return H5Aclose(id); }
inline int close_list(std::int64_t id) { return H5Pclose(id); }

/// Type of the elements in memory (little-endian, as on all machines that we run on); a new identifier.
Hdf5Handle memory_type(Hdf5Type type);
/// What a type of a file is.
Hdf5Type classify_type(hid_t type);

}  // namespace rhino::io::detail

/// Throws unless an HDF5 call gave a non-negative result.
#define RHINO_H5_READ(call, ...) \
  ((call) >= 0 ? void() : RHINO_FAIL(::rhino::InputError, "{}: {}", fmt::format(__VA_ARGS__), ::rhino::io::detail::hdf5_reasons()))
#define RHINO_H5_WRITE(call, ...) \
  ((call) >= 0 ? void()           \
               : RHINO_FAIL(::rhino::EnvironmentError, "{}: {}", fmt::format(__VA_ARGS__), ::rhino::io::detail::hdf5_reasons()))
