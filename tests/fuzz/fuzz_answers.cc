#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "buoy/base/error.h"
#include "buoy/run/answer_record.h"
#include "buoy/run/summary/summary.h"
#include "support/temp_folder.h"

// Any bytes as a finished run: the first line is its run.json, the rest its answers.jsonl. Only buoy::Error
// may come out; records that are accepted are written and read back the same, and what they score can be
// tabled.

namespace {

using namespace buoy::run;

constexpr buoy::stats::BootstrapOptions kFast{.replicates = 100, .seed = 0};

void expect(bool promise) {
  if (!promise) std::abort();
}

void read_as_record(const std::string& line) {
  const AnswerRecord record = parse_record(line, "answers.jsonl:1");
  const std::string written = to_line(record);
  const AnswerRecord again = parse_record(written, "answers.jsonl:1");
  expect(again.failed() == record.failed() && to_line(again) == written);
}

void read_as_run(std::string_view text) {
  static const buoy::testing::TempFolder folder;
  const std::size_t line_end = std::min(text.find('\n'), text.size());
  folder.write("run.json", text.substr(0, line_end));
  folder.write("answers.jsonl", text.substr(std::min(line_end + 1, text.size())));
  const auto tables = summarise(read_scores(folder.path()), kFast);
  overview(tables);
  for (const auto& table : tables) {
    for (const auto& row : table.rows) expect(row.size() == table.columns.size());
    to_json(table), to_csv(table);
  }
}

template <typename Read, typename Text>
void attempt(const Read& read, const Text& text) {
  try {
    read(text);
  } catch (const buoy::InternalError&) {
    std::abort();
  } catch (const buoy::UsageError&) {
    std::abort();  // nothing was asked for that makes no sense
  } catch (const buoy::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  attempt(read_as_record, text);
  attempt(read_as_run, text);
  return 0;
}
