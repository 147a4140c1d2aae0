// SPDX-License-Identifier: Apache-2.0
#include <rhino/base/deck.hpp>

#include <filesystem>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rhino/base/error.hpp>
#include <rhino/base/file.hpp>

namespace rhino {
namespace {

using testing::HasSubstr;

Deck parse(std::string_view text) { return Deck::from_text(text, "deck.toml", "/decks"); }

std::string error_of(std::string_view text) {
  try {
    parse(text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

std::string override_error(std::string_view assignment) {
  try {
    Deck().override_with(assignment);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Deck, DefaultsComeFromTheSchema) {
  const Deck deck;
  EXPECT_EQ(deck.integer("train.log_every"), 10);
  EXPECT_EQ(deck.text("plan.strategy"), "auto");
  EXPECT_TRUE(deck.flag("data.shuffle"));
  EXPECT_FALSE(deck.given("data.shuffle"));
  EXPECT_EQ(deck.path("model.file"), "");
}

TEST(Deck, SchemaIsConsistent) {
  std::set<std::string> names;
  std::set<std::string> closed_sections;
  std::string section;
  for (const DeckKey& key : deck_schema()) {
    EXPECT_TRUE(names.insert(key.name()).second) << key.name() << " twice";
    if (key.section != section) {
      EXPECT_TRUE(closed_sections.insert(key.section).second) << key.section << " is not contiguous";
      section = key.section;
    }
    EXPECT_FALSE(key.doc.empty()) << key.name();
  }
}

TEST(Deck, ReadsValuesOfEveryType) {
  const Deck deck = parse(
      "[train]\nsteps = 7\nmetrics = \"out/m.jsonl\"\n[plan]\nmemory_limit = \"1.5 GiB\"\n"
      "[data]\nshuffle = false\nshort_batch = \"wrap\"\n[runtime]\nwatchdog_seconds = 2\nbundle_bytes = 100\n");
  EXPECT_EQ(deck.integer("train.steps"), 7);
  EXPECT_EQ(deck.text("train.metrics"), "/decks/out/m.jsonl");
  EXPECT_EQ(deck.real("runtime.watchdog_seconds"), 2.0);
  EXPECT_EQ(deck.integer("plan.memory_limit"), 1610612736);
  EXPECT_FALSE(deck.flag("data.shuffle"));
  EXPECT_EQ(deck.text("data.short_batch"), "wrap");
  EXPECT_EQ(deck.integer("runtime.bundle_bytes"), 100);
  EXPECT_EQ(deck.origin("train.steps"), "train.steps of deck.toml:2");
}

TEST(Deck, UnknownKeysNameTheNearestKnownOne) {
  EXPECT_THAT(error_of("[train]\n\nstpes = 3\n"), HasSubstr("deck.toml:3: there is no key 'train.stpes' (did you "
                                                            "mean 'steps'?)"));
  EXPECT_THAT(error_of("[trian]\nsteps = 3\n"), HasSubstr("no section [trian] in a deck (did you mean 'train'?)"));
  EXPECT_THAT(error_of("[trian]\n"), HasSubstr("(did you mean 'train'?)"));
  EXPECT_THAT(error_of("[train]\nshuffle = true\n"), HasSubstr("(did you mean 'data.shuffle'?)"));
  EXPECT_THAT(error_of("steps = 3\n"), HasSubstr("deck.toml:1: 'steps' stands outside of a [section]"));
  EXPECT_THAT(override_error("train.stpes=3"), HasSubstr("(did you mean 'steps'?)"));
}

TEST(Deck, WrongValuesAreErrorsWithLine) {
  EXPECT_THAT(error_of("[train]\nsteps = \"x\"\n"), HasSubstr("deck.toml:2: train.steps must be an integer, not text"));
  EXPECT_THAT(error_of("[train]\nsteps = 1.5\n"), HasSubstr("must be an integer"));
  EXPECT_THAT(error_of("[train]\nsteps = -1\n"), HasSubstr("train.steps is -1 but must be at least 0"));
  EXPECT_THAT(error_of("[plan]\nlevel = 3\n"), HasSubstr("between 1 and 2"));
  EXPECT_THAT(error_of("[runtime]\nwatchdog_seconds = nan\n"), HasSubstr("runtime.watchdog_seconds is nan"));
  EXPECT_THAT(error_of("[plan]\nmemory_limit = \"4 GiBs\"\n"), HasSubstr("plan.memory_limit must be"));
  EXPECT_THAT(error_of("[data]\nshort_batch = \"drp\"\n"), HasSubstr("one of drop, wrap (did you mean 'drop'?)"));
  EXPECT_THAT(error_of("[data]\nshuffle = 1\n"), HasSubstr("true or false"));
  EXPECT_THAT(error_of("[plan]\nstrategy = \"atuo\"\n"), HasSubstr("(did you mean 'auto'?)"));
  EXPECT_THAT(error_of("[train]\nsteps = {a = 1}\n"), HasSubstr("not a table"));
  EXPECT_THAT(error_of("[train]\nsteps = 1\nsteps = 2\n"), HasSubstr("deck.toml:3"));
  EXPECT_THAT(error_of("[train\n"), HasSubstr("deck.toml:1"));
  EXPECT_THAT(error_of("\xff\xfe\x00"), HasSubstr("deck.toml:1"));
}

TEST(Deck, DeepNestingIsAnError) {
  EXPECT_NE(error_of("a = " + std::string(100000, '[')), "no error");
}

TEST(Deck, OverridesWin) {
  Deck deck = parse("[train]\nsteps = 7\n");
  const std::vector<std::string> overrides = {"train.steps=9", "data.shuffle=false", "runtime.watchdog_seconds=1e2",
                                              "plan.memory_limit=2GiB", "train.metrics=\"m=1.jsonl\""};
  deck.override_with(overrides);
  EXPECT_EQ(deck.integer("train.steps"), 9);
  EXPECT_FALSE(deck.flag("data.shuffle"));
  EXPECT_EQ(deck.real("runtime.watchdog_seconds"), 100.0);
  EXPECT_EQ(deck.integer("plan.memory_limit"), std::int64_t{2} << 30);
  EXPECT_EQ(deck.path("train.metrics"), std::filesystem::current_path() / "m=1.jsonl");
  EXPECT_EQ(deck.origin("train.steps"), "train.steps of the command line");
}

TEST(Deck, WrongOverridesAreErrors) {
  EXPECT_THAT(override_error("train.steps"), HasSubstr("section.key=value"));
  EXPECT_THAT(override_error("steps=3"), HasSubstr("section.key=value"));
  EXPECT_THAT(override_error("train.steps=3x"), HasSubstr("must be an integer"));
  EXPECT_THAT(override_error("train.steps="), HasSubstr("must be an integer"));
  EXPECT_THAT(override_error("train.steps=99999999999999999999"), HasSubstr("must be an integer"));
  EXPECT_THAT(override_error("data.shuffle=yes"), HasSubstr("true or false"));
}

TEST(Deck, StrategyMayBeAPlanFile) {
  write_file("my_plan.h5", "x");
  Deck deck;
  deck.override_with(std::string_view("plan.strategy=my_plan.h5"));
  EXPECT_EQ(deck.path("plan.strategy"), std::filesystem::current_path() / "my_plan.h5");
  EXPECT_THAT(override_error("plan.strategy=missing.h5"), HasSubstr("nor a file"));
}

TEST(Deck, CanonicalTextReadsBackEqual) {
  Deck deck = parse("[train]\nsteps = 7\nmetrics = \"a\\\"b\\\\c \\u0001 \\u00e4\"\n[runtime]\nwatchdog_seconds = 0.1\n");
  const Deck again = Deck::from_text(deck.canonical_text(), "again", "/elsewhere");
  EXPECT_EQ(again.canonical_text(), deck.canonical_text());
  EXPECT_EQ(again.hash(), deck.hash());
  deck.override_with(std::string_view("train.seed=1"));
  EXPECT_NE(again.hash(), deck.hash());
}

TEST(Deck, ReadsFilesRelativeToTheirFolder) {
  std::filesystem::create_directories("folder");
  write_file("folder/a.toml", "[model]\nfile = \"m.h5\"\n");
  EXPECT_EQ(Deck::from_file("folder/a.toml").path("model.file"), std::filesystem::current_path() / "folder/m.h5");
  EXPECT_THROW(Deck::from_file("folder/missing.toml"), InputError);
}

TEST(Deck, HelpNamesEveryKey) {
  const std::string text = deck_help_text();
  const std::string markdown = deck_help_markdown();
  for (const DeckKey& key : deck_schema()) {
    EXPECT_THAT(text, HasSubstr(key.key));
    EXPECT_THAT(text, HasSubstr(key.doc));
    EXPECT_THAT(markdown, HasSubstr("`" + key.name() + "`"));
  }
}

TEST(Deck, UnknownNamesInTheCodeAreInternalErrors) {
  EXPECT_THROW(Deck().integer("train.nothing"), InternalError);
  EXPECT_THROW(Deck().integer("data.shuffle"), InternalError);
}

}  // namespace
}  // namespace rhino
