// SPDX-License-Identifier: Apache-2.0
#include <rhino/frontend/op_context.hpp>

namespace rhino::frontend {
namespace {

OpReaders make_readers() {
  OpReaders readers;
  add_elementwise_readers(readers);
  add_shape_readers(readers);
  add_dynamic_shape_readers(readers);
  add_contraction_readers(readers);
  add_index_readers(readers);
  add_window_readers(readers);
  add_control_readers(readers);
  add_collective_readers(readers);
  add_composite_readers(readers);
  add_custom_call_readers(readers);
  add_check_readers(readers);
  return readers;
}

}  // namespace

OpReader find_reader(std::string_view name) {
  static const OpReaders readers = make_readers();
  if (name.starts_with("stablehlo.")) name.remove_prefix(10);
  if (name.starts_with("mhlo.")) name.remove_prefix(5);
  if (name.starts_with("func.")) name.remove_prefix(5);
  if (name.starts_with("chlo.broadcast_")) name = "chlo.broadcast_*";
  const auto found = readers.find(name);
  return found == readers.end() ? nullptr : found->second;
}

}  // namespace rhino::frontend
