// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "certificate.hpp"
#include "problem.hpp"

namespace rhino::plan::labelling {

/// A problem in the contest's JSON, packed by gzip or not (told by its first bytes). Keys that are not of the format are
/// skipped. Throws InputError that names what is wrong: syntax, types, numbers of more than 64 bits, keys given twice or
/// missing, a damaged archive, and all that check_problem finds.
Problem read_problem(const std::filesystem::path& path);
Problem parse_problem(std::string_view json);

/// The text form; parse_problem gives the same problem.
std::string to_json(const Problem& problem);

/// An assignment as a JSON array of strategies. Reading throws InputError; writing EnvironmentError.
std::vector<int> read_assignment(const std::filesystem::path& path);
void write_assignment(const std::filesystem::path& path, const std::vector<int>& assignment);

/// A certificate as JSON: {"bound": B or null, "shift": S, "prices": [[time, price], ..], "steps": [[kind, node, state, other], ..], "messages":
/// [[first, second, [to_first ..], [to_second ..]], ..]}, the kinds as words. What is read has this shape, no more: whether it
/// proves anything is for checker.hpp. Reading throws InputError; writing EnvironmentError.
Certificate read_certificate(const std::filesystem::path& path);
void write_certificate(const std::filesystem::path& path, const Certificate& certificate);

}  // namespace rhino::plan::labelling
