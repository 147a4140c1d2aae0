// SPDX-License-Identifier: Apache-2.0
#include <rhino/plan/labelling/file.hpp>

#include <zlib.h>

#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rhino/base/error.hpp>
#include <rhino/plan/labelling/checker.hpp>
#include <rhino/plan/labelling/solve.hpp>

#include "random_labelling.hpp"

namespace rhino::plan::labelling {
namespace {

using testing::HasSubstr;

constexpr const char* good =
    R"({"problem": {"name": "n", "nodes": {"intervals": [[0,2],[1,1]], "costs": [[1,2],[3]], "usages": [[4,5],[6]]},
    "edges": {"nodes": [[0,1]], "costs": [[7, 1000000000000000000]]}, "usage_limit": 9}, "extra": [{"a": [1.5, null]}, "x"]})";

std::string with(std::string_view from, std::string_view to) {
  std::string text = good;
  text.replace(text.find(from), from.size(), to);
  return text;
}

std::string error_of(const std::string& text) {
  try {
    parse_problem(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(LabellingFile, ReadsTheFormat) {
  const Problem problem = parse_problem(good);
  EXPECT_EQ(problem.name, "n");
  ASSERT_EQ(problem.nodes.size(), 2u);
  EXPECT_EQ(problem.nodes[0], (Node{{0, 2}, {1, 2}, {4, 5}}));
  EXPECT_EQ(problem.edges, (std::vector<Edge>{{0, 1, {7, forbidden}}}));
  EXPECT_EQ(problem.usage_limit, 9);
}

TEST(LabellingFile, RoundTrip) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Problem problem = test::random_problem(seed);
    EXPECT_EQ(parse_problem(to_json(problem)), problem) << seed;
  }
}

TEST(LabellingFile, WhatIsWrongIsNamed) {
  EXPECT_THAT(error_of("[1]"), HasSubstr("array"));
  EXPECT_THAT(error_of("{}"), HasSubstr("problem.nodes.costs is missing"));
  EXPECT_THAT(error_of(std::string(good).substr(0, 100)), HasSubstr("broken at byte"));
  EXPECT_THAT(error_of(with("[3]", "3")), HasSubstr("problem.nodes.costs: a number stands where an array should"));
  EXPECT_THAT(error_of(with("[3]", "[\"3\"]")), HasSubstr("a string stands where a number should"));
  EXPECT_THAT(error_of(with("[3]", "[[3]]")), HasSubstr("an array stands where a number should"));
  EXPECT_THAT(error_of(with("[3]", "[3.5]")), HasSubstr("no 64-bit integer"));
  EXPECT_THAT(error_of(with("[3]", "[18446744073709551615]")), HasSubstr("does not fit into 64 bits"));
  EXPECT_THAT(error_of(with("[3]", "[-1000000000000000000]")), HasSubstr("cost of"));
  EXPECT_THAT(error_of(with("[3]", "[]")), HasSubstr("node 1 has no strategies"));
  EXPECT_THAT(error_of(with("[6]", "[6,7]")), HasSubstr("1 costs and 2 usages"));
  EXPECT_THAT(error_of(with("[6]", "[-6]")), HasSubstr("usage of -6"));
  EXPECT_THAT(error_of(with("[1,1]", "[2,1]")), HasSubstr("interval"));
  EXPECT_THAT(error_of(with("[1,1]", "[1]")), HasSubstr("interval of node 1 has 1"));
  EXPECT_THAT(error_of(with("[[0,1]]", "[[0,2]]")), HasSubstr("edge 0 names node 2"));
  EXPECT_THAT(error_of(with("[[0,1]]", "[[-1,1]]")), HasSubstr("edge 0 names node -1"));
  EXPECT_THAT(error_of(with("[[0,1]]", "[[1,1]]")), HasSubstr("to itself"));
  EXPECT_THAT(error_of(with("[7, ", "[7, 7, ")), HasSubstr("3 costs for 2 x 1"));
  EXPECT_THAT(error_of(with("\"usage_limit\": 9", "\"usage_limit\": -9")), HasSubstr("limit is -9"));
  EXPECT_THAT(error_of(with("\"usage_limit\": 9", "\"usage_limit\": \"9\"")), HasSubstr("a string stands where a number"));
  EXPECT_THAT(error_of(with("\"usage_limit\": 9", "\"usage_limit\": 9, \"usage_limit\": 9")), HasSubstr("given twice"));
  EXPECT_THAT(error_of(with("\"intervals\"", "\"costs\"")), HasSubstr("given twice"));
  EXPECT_THAT(error_of(with("\"intervals\"", "\"interval\"")), HasSubstr("problem.nodes.intervals is missing"));
  EXPECT_THAT(error_of(std::string(100000, '[')), HasSubstr("array"));
}

std::string packed(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(text.size() + 1000, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

void write(const char* path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

std::string file_error(const char* path, const std::string& bytes) {
  write(path, bytes);
  try {
    read_problem(path);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(LabellingFile, PackedFilesAndDamagedOnes) {
  const std::string whole = packed(good);
  write("good.json.gz", whole);
  EXPECT_EQ(read_problem("good.json.gz"), parse_problem(good));
  EXPECT_THAT(file_error("bad.json.gz", whole.substr(0, whole.size() - 20)), HasSubstr("truncated"));
  EXPECT_THAT(file_error("bad.json.gz", whole + "more"), HasSubstr("follows"));
  std::string damaged = whole;
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 0x55);
  EXPECT_THAT(file_error("bad.json.gz", damaged), HasSubstr("bad.json.gz"));
  EXPECT_THAT(file_error("bad.json", ""), HasSubstr("broken"));
  EXPECT_THROW(read_problem("absent.json"), InputError);
}

TEST(LabellingFile, AssignmentsRoundTrip) {
  write_assignment("solution.json", {0, 3, 1});
  EXPECT_EQ(read_assignment("solution.json"), (std::vector<int>{0, 3, 1}));
  write("bad.json", "[0, -1]");
  EXPECT_THROW(read_assignment("bad.json"), InputError);
}

TEST(LabellingFile, CertificatesRoundTripAndProveTheSame) {
  const Problem problem = parse_problem(good);
  const Solution solution = solve(problem);
  ASSERT_TRUE(solution.bound);
  write_certificate("proof.json", solution.certificate);
  EXPECT_TRUE(check_bound(problem, read_certificate("proof.json")) == *solution.bound);
  Certificate claims = solution.certificate;
  claims.claim = static_cast<std::int64_t>(*solution.bound);
  write_certificate("proof.json", claims);
  EXPECT_TRUE(check_bound(problem, read_certificate("proof.json")) == *solution.bound);
  ++*claims.claim;
  write_certificate("proof.json", claims);
  EXPECT_THROW(check_bound(problem, read_certificate("proof.json")), InputError);
}

std::string certificate_error(const std::string& text) {
  write("bad_proof.json", text);
  try {
    read_certificate("bad_proof.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(LabellingFile, BrokenCertificatesAreRefused) {
  const auto with = [](const char* shift, const char* prices, const char* steps, const char* messages) {
    return fmt::format("{{\"bound\": null, \"shift\": {}, \"prices\": {}, \"steps\": {}, \"messages\": {}}}", shift, prices, steps, messages);
  };
  EXPECT_EQ(certificate_error(with("0", "[[1,2]]", "[[\"drop\",0,0,-1]]", "[[0,1,[3],[-4]]]")), "no error");
  EXPECT_THAT(certificate_error(with("0", "[[1,2]]", "[]", "[").substr(0, 30)), HasSubstr("broken"));
  EXPECT_THAT(certificate_error("{}"), HasSubstr("bound is missing"));
  EXPECT_THAT(certificate_error("[]"), HasSubstr("no JSON object"));
  EXPECT_THAT(certificate_error(with("0.5", "[]", "[]", "[]")), HasSubstr("whole"));
  EXPECT_THAT(certificate_error(with("0", "[[1]]", "[]", "[]")), HasSubstr("prices are no list of 2"));
  EXPECT_THAT(certificate_error(with("0", "[[1,99999999999999999999]]", "[]", "[]")), HasSubstr("whole"));
  EXPECT_THAT(certificate_error(with("0", "[]", "[[\"guess\",0,0,0]]", "[]")), HasSubstr("not known"));
  EXPECT_THAT(certificate_error(with("0", "[]", "[[\"drop\",-5,0,0]]", "[]")), HasSubstr("index -5"));
  EXPECT_THAT(certificate_error(with("0", "[]", "[]", "[[0,1,3,4]]")), HasSubstr("messages are no list"));
}

}  // namespace
}  // namespace rhino::plan::labelling
