#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "buoy/base/counted.h"
#include "buoy/base/error.h"
#include "buoy/base/progress.h"
#include "buoy/checkpoint/hub_cache.h"
#include "buoy/result/schema/study.h"
#include "buoy/study/study_check.h"

namespace buoy::study {
namespace {

const char* about(const StudyFindings& findings) {
  return findings.sizes_known() ? "about" : "at least";
}

}  // namespace

std::string describe(const StudyFindings& findings, const StudyPlan& plan) {
  const auto& t = schema::study_parts;
  Table table(t);
  StudyPart sum{"in all"};
  double work = 0;
  for (const auto& part : findings.parts) work += part.work;
  const auto add = [&](const StudyPart& part) {
    const auto count = [](std::uint64_t n) { return n == 0 ? Cell{} : Cell(static_cast<std::int64_t>(n)); };
    const auto size = [&](std::uint64_t bytes) {
      if (!part.known && bytes == 0) return std::string("not known");
      return (part.known ? "" : "at least ") + describe_bytes(bytes);
    };
    const auto as = [&](trace::Level level) {
      const auto found = part.of_level.find(level);
      return found == part.of_level.end() ? Cell{} : Cell(size(found->second));
    };
    table.add({{t.part, part.name},
               {t.questions, count(part.questions)},
               {t.forward_passes, count(part.forwards)},
               {t.work_percent, part.work > 0 ? Cell(fmt::format("{:.1f}", 100 * part.work / work)) : Cell{}},
               {t.on_disk, size(part.bytes)},
               {t.keep, part.level ? Cell(std::string(name_of(*part.level))) : Cell{}},
               {t.as_tables, as(trace::Level::kTables)},
               {t.as_compact, as(trace::Level::kCompact)},
               {t.as_full, as(trace::Level::kFull)}});
  };
  for (const auto& part : findings.parts) {
    add(part);
    sum.known &= part.known;
    sum.bytes += part.bytes;
    // Each level in all: with what is no trace, which is the same whatever is kept.
    for (const auto level : trace::kLevels)
      sum.of_level[level] += part.of_level.empty() ? part.bytes : part.of_level.at(level);
    if (part.forwards == 0) continue;  // data are asked in other parts
    sum.questions += part.questions;
    sum.forwards += part.forwards;
    sum.work += part.work;
  }
  add(sum);
  std::string out = to_text(table);
  for (const auto& line : describe_downloads(findings.downloads)) out += "\ndownload: " + line;
  for (const auto& line : findings.memory) out += "\nmemory: " + line;
  out += fmt::format("\ndisk: {} {} still to write to {}, {} free", about(findings),
                     describe_bytes(findings.missing_bytes()), plan.study().out.string(),
                     describe_bytes(findings.free_bytes));
  for (const auto& line : findings.excluded) out += "\n" + line;
  for (const auto& line : findings.detectable) out += "\n" + line;
  return out;
}

std::vector<std::string> describe_downloads(const std::vector<StudyDownload>& downloads) {
  std::vector<std::string> lines;
  double missing = 0;
  bool known = true;
  const auto gigabytes = [](double bytes) { return fmt::format("{:.2f} GB", bytes / 1e9); };
  for (const auto& one : downloads) {
    const auto bytes = static_cast<double>(one.bytes);
    lines.push_back(fmt::format("{} ({}): {}", one.id, fmt::join(one.models, ", "),
                                one.there        ? gigabytes(bytes) + ", in the cache"
                                : one.bytes == 0 ? "size not known, not in the cache"
                                                 : "about " + gigabytes(bytes) + ", not in the cache"));
    if (one.there) continue;
    missing += bytes;
    known &= one.bytes > 0;
  }
  const auto count =
      std::count_if(downloads.begin(), downloads.end(), [](const auto& d) { return !d.there; });
  if (count > 0) {
    lines.push_back(fmt::format(
        "{} {} for {} to {}; this program downloads nothing: hf download ID", known ? "about" : "at least",
        gigabytes(missing), counted(static_cast<std::size_t>(count), "model"), hub_cache_folder().string()));
  }
  return lines;
}

std::string describe_time(const StudyFindings& findings, double product_flops, const std::string& machine) {
  double work = 0;
  for (const auto& part : findings.parts) work += part.work;
  const bool known =
      std::all_of(findings.parts.begin(), findings.parts.end(), [](const auto& part) { return part.known; });
  return fmt::format(
      "time: {} {} of arithmetic ({:.2e} floating-point operations at {:.3g} GFLOP/s, a matrix product "
      "measured "
      "now on {}); loading, waiting for memory, observing and the report come on top",
      known ? "about" : "at least", describe_duration(work / product_flops), work, product_flops / 1e9,
      machine);
}

void require_space(const StudyFindings& findings, const StudyPlan& plan) {
  if (findings.missing_bytes() <= findings.free_bytes) return;
  throw IoError(
      fmt::format("{}: the study will write {} {}, but {} are free there (`ignore_space` runs it "
                  "all the same)",
                  plan.study().out.string(), about(findings), describe_bytes(findings.missing_bytes()),
                  describe_bytes(findings.free_bytes)));
}

}  // namespace buoy::study
