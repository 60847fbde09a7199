#include "buoy/run/parts/run_comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "buoy/base/counted.h"
#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/base/sha256.h"
#include "buoy/run/answer_file.h"
#include "buoy/trace/reader.h"
#include "buoy/trace/schema.h"

namespace buoy::run {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostNamed = 5;

struct Told {
  std::string answer, prompt_sum, line_sum;
};

// By model, set, condition and id.
std::map<std::string, Told> answers_of(const fs::path& folder) {
  std::map<std::string, Told> out;
  read_answers(folder, [&](AnswerRecord&& r) {
    out[fmt::format("{}, {}, {}, {}", r.model, r.set, r.condition, r.id)] = {r.answer, sha256_hex(r.prompt),
                                                                             sha256_hex(to_line(r))};
  });
  return out;
}

[[noreturn]] void refuse_other(const fs::path& other, const std::string& expected, const std::string& found) {
  throw_input_error({other.string(), expected, found});
}

RunDifferences compare_answers(const fs::path& run, const fs::path& other) {
  RunDifferences out;
  const auto ours = answers_of(run), theirs = answers_of(other);
  if (ours.size() != theirs.size())
    refuse_other(other, counted(ours.size(), "answer") + ", as in " + run.string(),
                 std::to_string(theirs.size()));
  for (const auto& [name, told] : ours) {
    const auto found = theirs.find(name);
    if (found == theirs.end()) refuse_other(other, "an answer to " + name, "none");
    if (found->second.prompt_sum != told.prompt_sum)
      refuse_other(other, "the same prompt of " + name, "another");
    ++out.compared;
    if (found->second.line_sum == told.line_sum) continue;
    ++out.differ;
    if (found->second.answer == told.answer) continue;
    if (++out.texts <= kMostNamed) out.first.push_back(name);
  }
  return out;
}

// None where a sample keeps what analyses made alone.
std::vector<std::int32_t> ids_of(const trace::StoredSample& sample) {
  return sample.has(trace::kTokens) ? sample.integers(trace::kTokens) : std::vector<std::int32_t>();
}

RunDifferences compare_traces(const fs::path& run, const fs::path& other) {
  const auto ours = trace::TraceReader::open(run), theirs = trace::TraceReader::open(other);
  RunDifferences out;
  out.traces = true;
  if (ours.manifest().sample_ids != theirs.manifest().sample_ids ||
      ours.samples().size() != theirs.samples().size())
    refuse_other(other, fmt::format("the samples of {}, {} of them", run.string(), ours.samples().size()),
                 fmt::format("{}", theirs.samples().size()));
  for (std::size_t n = 0; n < ours.samples().size(); ++n) {
    const auto &a = ours.samples()[n], &b = theirs.samples()[n];
    if (a.id != b.id || a.status != b.status)
      refuse_other(other, fmt::format("sample {} as in {}", a.id, run.string()),
                   "another, or one that failed");
    if (a.status == trace::Status::kFailed) continue;
    ++out.compared;
    const auto mine = ids_of(ours.read(a.id)), yours = ids_of(theirs.read(b.id));
    std::size_t ids = std::max(mine.size(), yours.size()) - std::min(mine.size(), yours.size());
    for (std::size_t i = 0; i < std::min(mine.size(), yours.size()); ++i) ids += mine[i] != yours[i] ? 1 : 0;
    out.all_ids += mine.size();
    out.ids += ids;
    if (ids > 0 && ++out.texts <= kMostNamed) out.first.push_back(a.id);
    const bool same = a.bytes == b.bytes && a.checksum == b.checksum && a.tree_sha256 == b.tree_sha256;
    out.differ += same ? 0 : 1;
  }
  return out;
}

bool holds_answers(const fs::path& folder) {
  return path_exists(folder / "run.json");
}

}  // namespace

RunDifferences compare_runs(const fs::path& run, const fs::path& other) {
  if (holds_answers(run) != holds_answers(other))
    refuse_other(other, holds_answers(run) ? "an evaluation" : "a trace",
                 holds_answers(run) ? "none" : "an evaluation");
  return holds_answers(run) ? compare_answers(run, other) : compare_traces(run, other);
}

std::string describe(const RunDifferences& d) {
  const std::string what = counted(d.compared, d.traces ? "sample" : "answer");
  if (d.differ == 0) return what + ", none differs";
  std::string out = fmt::format("{}, {} differ{}", what, d.differ, d.differ == 1 ? "s" : "");
  if (d.texts == 0) return out + (d.traces ? ", in no id" : ", in no text");
  out += d.traces ? fmt::format(", {} of them in {} of {}", d.texts, d.ids, counted(d.all_ids, "id"))
                  : fmt::format(", {} of them in the text", d.texts);
  return out + fmt::format(" ({}{})", fmt::join(d.first, "; "), d.texts > d.first.size() ? "; ..." : "");
}

}  // namespace buoy::run
