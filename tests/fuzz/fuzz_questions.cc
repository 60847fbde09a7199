#include <zlib.h>
#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "buoy/base/error.h"
#include "buoy/questions/data/item_json.h"
#include "buoy/questions/data/item_reader.h"
#include "buoy/questions/prompt/prompt_template.h"
#include "fuzz/check_prompt.h"
#include "support/temp_folder.h"

// Any bytes as a question file. Only buoy::Error may come out. What is accepted can be made into prompts, can
// be written as Buoy's own JSON Lines and read back the same, and is the same when the file is gzip.

namespace {

using namespace buoy::questions;
using buoy::fuzz::expect;

constexpr std::size_t kLongestLine = std::size_t{1} << 16;

std::filesystem::path write(std::string_view bytes) {
  static const buoy::testing::TempFolder folder;
  return folder.write("questions.jsonl", bytes);
}

std::string gzip(std::string_view bytes) {
  z_stream stream{};
  expect(::deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(::deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  expect(::deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  return out;
}

struct Reading {
  std::vector<Item> items;
  std::string lines;   // the items as Buoy writes them
  std::string errors;  // those of bad lines

  friend bool operator==(const Reading& a, const Reading& b) {
    return a.lines == b.lines && a.errors == b.errors;
  }
};

// Goes on behind bad lines, but not for ever: a damaged stream stays damaged.
Reading read(std::string_view bytes, bool require_answers) {
  Reading reading;
  try {
    ItemReader reader(write(bytes), {.require_answers = require_answers, .longest_line = kLongestLine});
    for (int errors = 0; errors < 8;) {
      try {
        auto item = reader.next();
        if (!item) break;
        reading.lines += item_json(*item).dump() + "\n";
        reading.items.push_back(*std::move(item));
      } catch (const buoy::InputError& error) {
        reading.errors += error.what();
        ++errors;
      }
    }
  } catch (const buoy::InternalError&) {
    std::abort();
  } catch (const buoy::Error& error) {
    reading.errors += error.what();
  }
  return reading;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  static const auto prompt = PromptTemplate::parse("{{question}}{{#passages}}{{text}}{{/passages}}", "fixed");
  const Reading plain = read(bytes, true);
  for (const Item& item : plain.items) {
    expect(!item.id.empty() && !item.question.empty() && !item.answers.empty());
    if (!item.passages.empty()) buoy::fuzz::check_prompt(prompt.render(item));
    if (item.prompt) buoy::fuzz::check_prompt(ready_prompt(item));
  }
  if (!plain.items.empty()) {
    const Reading again = read(plain.lines, true);
    const auto too_long = again.errors.find("bytes") != std::string::npos;  // Buoy writes all keys
    expect(too_long || (again.lines == plain.lines && again.errors.empty()));
  }
  if (!bytes.starts_with("\x1F\x8B")) expect(read(gzip(bytes), true) == plain);
  read(bytes, false);
  return 0;
}
