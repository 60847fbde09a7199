// Files made to break parsers: by hand, and everything a fuzzer ever found. Each goes to every parser of
// foreign files. Only buoy::Error may come out, and a file named bad_* must be refused by its own parser.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "buoy/base/container/safetensors.h"
#include "buoy/base/error.h"
#include "buoy/checkpoint/config.h"
#include "buoy/checkpoint/shard_index.h"
#include "support/fails_with.h"

namespace buoy {
namespace {

namespace fs = std::filesystem;
using testing::fails_with;

struct AbuseFile {
  std::string name, bytes;
};

std::vector<AbuseFile> abuse_files() {
  std::vector<AbuseFile> files;
  for (const auto& entry : fs::directory_iterator(fs::path(BUOY_TEST_DATA) / "checkpoint" / "abuse")) {
    std::stringstream bytes;
    bytes << std::ifstream(entry.path(), std::ios::binary).rdbuf();
    files.push_back({entry.path().filename().string(), bytes.str()});
  }
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return files;
}

void parse_as_safetensors(const AbuseFile& file) {
  const auto parsed = parse_safetensors(std::as_bytes(std::span(file.bytes)), file.name);
  std::uint64_t total = 0;
  for (const auto& [name, entry] : parsed.tensors) {
    for (const std::byte byte : entry.data) total += std::to_integer<std::uint64_t>(byte);
  }
  EXPECT_LE(total, 255 * file.bytes.size()) << file.name;
}

void parse_as_config(const AbuseFile& file) {
  parse_config(parse_json(file.bytes, file.name), file.name);
}

void parse_as_index(const AbuseFile& file) {
  parse_shard_index(parse_json(file.bytes, file.name), file.name);
}

void parse_as_generation_config(const AbuseFile& file) {
  ModelConfig config{};
  config.vocabulary = 100;
  apply_generation_config(config, parse_json(file.bytes, file.name), file.name);
}

TEST(Abuse, NothingButOurOwnErrorsComesOutOfAnyParser) {
  const auto files = abuse_files();
  ASSERT_GE(files.size(), 15u);
  for (const auto& file : files) {
    for (const auto& parse :
         {parse_as_safetensors, parse_as_config, parse_as_index, parse_as_generation_config}) {
      try {
        parse(file);
      } catch (const Error& error) {
        EXPECT_TRUE(std::string(error.what()).starts_with(file.name)) << error.what();
      } catch (const std::exception& error) {
        ADD_FAILURE() << file.name << ": " << error.what();
      }
    }
  }
}

TEST(Abuse, BadFilesAreRefusedByTheirOwnParser) {
  int refused = 0;
  for (const auto& file : abuse_files()) {
    if (!file.name.starts_with("bad_")) continue;
    const auto own_parser = file.name.ends_with(".safetensors")  ? parse_as_safetensors
                            : file.name.ends_with(".index.json") ? parse_as_index
                                                                 : parse_as_config;
    EXPECT_TRUE(fails_with<InputError>([&] { own_parser(file); }, {file.name, "expected ", "found "}));
    ++refused;
  }
  EXPECT_GE(refused, 15);
}

}  // namespace
}  // namespace buoy
