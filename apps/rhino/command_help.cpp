// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <rhino/base/deck.hpp>
#include <rhino/base/error.hpp>
#include <rhino/base/strings.hpp>

#include "commands.hpp"

namespace rhino::app {
namespace help_for_users {

struct Options {
  std::string topic;
  bool markdown = false;
};

int run(const Options& options) {
  if (options.topic.empty()) {
    fmt::print("{}", options.markdown ? command_table_markdown() : program_help());
    return 0;
  }
  if (options.topic == "decks") {
    fmt::print("{}", options.markdown ? deck_help_markdown() : deck_help_text());
    return 0;
  }
  for (const Command* command : commands()) {
    if (options.topic != command->name) continue;
    fmt::print("{}", command_help(*command));
    return 0;
  }
  auto topics = command_names();
  topics.emplace_back("decks");
  RHINO_FAIL(UsageError, "there is no help on '{}'{}; topics: {}", options.topic, did_you_mean(options.topic, topics),
             fmt::join(topics, ", "));
}

Action declare(CommandLine& cli) {
  auto options = std::make_shared<Options>();
  cli.add_option("topic", options->topic, "A command, or 'decks'");
  cli.add_flag("--markdown", options->markdown, "Print the commands, or the keys of a deck, as a Markdown table");
  return [options] { return run(*options); };
}

}  // namespace help_for_users

const Command help_command = {"help", "explain a command, or the keys of a deck",
                              "rhino help decks\nrhino help info", help_for_users::declare};

}  // namespace rhino::app
