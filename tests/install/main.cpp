// SPDX-License-Identifier: Apache-2.0
// Uses the installed library as an outside program would.
#include <cstdio>

#include <rhino/base/deck.hpp>
#include <rhino/base/error.hpp>

int main() {
  try {
    rhino::Deck deck;
    deck.override_with(std::string_view("train.steps=12"));
    if (deck.integer("train.steps") != 12) return 1;
    std::printf("deck %s\n", rhino::to_string(deck.hash()).c_str());
    deck.override_with(std::string_view("train.stpes=12"));
  } catch (const rhino::UsageError& error) {
    std::printf("as expected: %s\n", error.what());
    return 0;
  }
  return 1;
}
