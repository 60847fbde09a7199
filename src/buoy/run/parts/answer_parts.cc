#include "buoy/run/parts/answer_parts.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <exception>
#include <map>
#include <utility>

#include "buoy/base/counted.h"
#include "buoy/base/error.h"
#include "buoy/base/file/atomic_file.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/run/answer_file.h"
#include "buoy/run/run_folder.h"
#include "buoy/shard/parent_folder.h"
#include "buoy/tensor/thread_pool.h"

namespace buoy::run {

std::string_view AnswerParts::line(std::size_t number) const {
  const Found& found = found_[number];
  const auto bytes = parts_[static_cast<std::size_t>(found.part)].bytes->bytes();
  return {reinterpret_cast<const char*>(bytes.data()) + found.offset, found.length};
}

AnswerParts::Lines AnswerParts::lines_of(const File& file, const EvaluationPlan& plan) {
  Lines lines;
  const auto bytes = file.bytes->bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::size_t begin = 0, line = 1;
  for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string_view::npos;
       begin = end + 1, ++line) {
    const auto one = text.substr(begin, end - begin);
    lines.push_back({plan.number_of(parse_place(one, fmt::format("{}:{}", file.name, line))),
                     {-1, static_cast<std::uint32_t>(one.size()), begin, static_cast<std::uint32_t>(line)}});
  }
  return lines;
}

std::string AnswerParts::name_of(std::size_t number) const {
  const Found& found = found_[number];
  return fmt::format("{}:{}", parts_[static_cast<std::size_t>(found.part)].name, found.line);
}

// Both answers are of the same question: what was asked, and how it was scored, is compared as well.
void AnswerParts::note_difference(std::size_t number, std::string_view other, const File& file,
                                  bool rounds_by_packing) {
  const auto& first = parts_[static_cast<std::size_t>(found_[number].part)].name;
  const auto a = parse_record(std::string(line(number)), name_of(number)),
             b = parse_record(std::string(other), file.name);
  if (!rounds_by_packing || a.prompt != b.prompt || a.golds != b.golds || a.failed() != b.failed()) {
    throw_input_error({fmt::format("{}: answer {}", file.name, number),
                       fmt::format("once, or the same as in {}", first), "another"});
  }
  ++differing_.answers;
  differing_.texts += a.answer != b.answer ? 1 : 0;
}

// Parts are read side by side, and taken in their order.
void AnswerParts::take_files(const EvaluationPlan& plan, bool rounds_by_packing) {
  std::vector<Lines> lines(parts_.size());
  std::vector<std::exception_ptr> errors(parts_.size());
  ThreadPool threads(default_threads());
  threads.run(std::ssize(parts_), [&](std::int64_t part, int /*thread*/) {
    const auto p = static_cast<std::size_t>(part);
    try {
      lines[p] = lines_of(parts_[p], plan);
    } catch (...) {
      errors[p] = std::current_exception();
    }
  });
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    if (errors[p]) std::rethrow_exception(errors[p]);
    for (const auto& [number, found] : lines[p]) {
      const Found before = found_[number];
      found_[number] = found;
      found_[number].part = static_cast<std::int32_t>(p);
      if (before.part < 0) continue;
      const auto now = line(number);
      found_[number] = before;
      if (line(number) != now)
        note_difference(number, now, parts_[p],
                        rounds_by_packing && before.part != static_cast<std::int32_t>(p));
    }
  }
}

AnswerParts AnswerParts::open(const std::filesystem::path& out) {
  AnswerParts all;
  all.out_ = out.string();
  const auto plan = EvaluationPlan::read(out);
  const Json description = read_json_file(out / "run.json");
  all.found_.resize(plan.size());
  std::map<int, std::string> seen;
  for (const auto& part : shard::parts_of(out)) {
    if (!path_exists(part.folder / "run.json")) continue;  // begun, and no more
    require_same_description(part.folder / "run.json", description);
    if (path_exists(part.folder / shard::kPartFile)) {
      const auto said = shard::read_part_file(part.folder);
      const auto [other, is_new] = seen.emplace(said.index, part.folder.string());
      if (!is_new)
        throw_input_error({part.folder.string(), "every part once",
                           fmt::format("shard {} again, which is in {}", said.name(), other->second)});
      if (said.index != part.shard.index || said.count != part.shard.count)
        throw_input_error({part.folder.string(), "shard " + part.shard.name(), "shard " + said.name()});
    }
    const auto file =
        part.folder / (path_exists(part.folder / kAnswersFile) ? kAnswersFile : kPartialAnswersFile);
    if (!path_exists(file) || std::filesystem::file_size(file) == 0) continue;
    all.parts_.push_back({file.string(), std::make_unique<MappedFile>(file)});
  }
  all.take_files(plan, JsonObject(description, all.out_).text("device") == "cuda");
  for (std::size_t number = 0; number < all.found_.size(); ++number) {
    if (all.found_[number].part < 0) all.missing_.push_back(number);
  }
  return all;
}

void AnswerParts::require_all() const {
  if (!missing_.empty())
    throw_input_error({out_, counted(planned(), "answer") + " in its parts",
                       fmt::format("{} missing (buoy merge {} says which)", missing_.size(), out_)});
}

void AnswerParts::each_line(const std::function<void(std::string_view line)>& take) const {
  require_all();
  for (std::size_t number = 0; number < found_.size(); ++number) take(line(number));
}

// Side by side, some thousands at a time.
void AnswerParts::read(const std::function<void(AnswerRecord&&)>& take) const {
  constexpr std::size_t kBlock = 4096;
  require_all();
  ThreadPool threads(default_threads());
  std::vector<AnswerRecord> records(std::min(kBlock, found_.size()));
  for (std::size_t first = 0; first < found_.size(); first += kBlock) {
    const std::size_t count = std::min(kBlock, found_.size() - first);
    threads.run(static_cast<std::int64_t>(count), [&](std::int64_t n, int /*thread*/) {
      const auto at = static_cast<std::size_t>(n);
      records[at] = parse_record(std::string(line(first + at)), name_of(first + at));
    });
    for (std::size_t at = 0; at < count; ++at) take(std::move(records[at]));
  }
}

void AnswerParts::write(const std::filesystem::path& out) const {
  AtomicFile file(out / kAnswersFile);
  std::string block;
  constexpr std::size_t kBlock = 1 << 20;
  each_line([&](std::string_view line) {
    block.append(line).push_back('\n');
    if (block.size() < kBlock) return;
    file.write(std::string_view(block));
    block.clear();
  });
  file.write(std::string_view(block));
  file.commit();
}

}  // namespace buoy::run
