// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <rhino/base/error.hpp>

namespace rhino::test {

/// The message of the error of a kind that an action throws; "no error" if it throws none.
template <class Kind = Error, class Action>
std::string message_of(Action&& action) {
  try {
    action();
  } catch (const Kind& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace rhino::test
