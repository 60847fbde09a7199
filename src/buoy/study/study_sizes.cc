#include "buoy/study/study_sizes.h"

#include <fmt/format.h>

#include <algorithm>

#include "buoy/analysis/core/analysis.h"
#include "buoy/base/error.h"
#include "buoy/base/file/disk_space.h"
#include "buoy/base/file/files.h"
#include "buoy/model/memory.h"
#include "buoy/study/design/controls.h"

namespace buoy::study {
namespace {

// Beside what is counted: headers, scores, names.
constexpr double kBytesOfAnswer = 700;
constexpr std::uint64_t kBytesOfEntry = 300;                      // of a sample, in the manifest
constexpr std::uint64_t kBytesOfTables = std::uint64_t{1} << 19;  // and figures, of an evaluation
constexpr std::uint64_t kBytesOfReport = std::uint64_t{24} << 20;
constexpr std::size_t kTriedAnswers = 20;  // conditions are many, and their prompts much alike

// As many passages, without looking for noise.
run::Arrangement without_noise(run::Arrangement arrangement) {
  if (arrangement.noise) {
    arrangement.passages = static_cast<std::int64_t>(*arrangement.noise) + 1;
    arrangement.gold_position = 0;
    arrangement.noise.reset();
  }
  return arrangement;
}

}  // namespace

StudyData expected_data(const study::ExpectedData& expected) {
  constexpr std::int64_t kBytesOfExpectedToken = 4, kBytesOfInstruction = 200;
  StudyData data;
  data.count = expected.questions;
  data.expected = true;
  questions::Item item;
  item.id = "expected";
  item.question = std::string(60, 'q');
  item.answers = {"answer"};
  const std::int64_t room = std::max<std::int64_t>(
      expected.prompt_tokens * kBytesOfExpectedToken - kBytesOfInstruction - std::ssize(item.question), 0);
  for (std::int64_t p = 0; p < expected.passages; ++p) {
    const std::int64_t bytes = std::max<std::int64_t>(room / expected.passages - 6, 1);
    item.passages.push_back({.title = "",
                             .text = "answer" + std::string(static_cast<size_t>(bytes), 'p'),
                             .gold = p == 0,
                             .has_answer = p == 0});
  }
  if (expected.passages == 0) item.question.resize(static_cast<size_t>(std::max<std::int64_t>(room, 1)), 'q');
  data.sample.push_back(std::move(item));
  return data;
}

StudyPart StudySizes::data(const study::DataEntry& entry) const {
  const auto& data = facts_.data.at(entry.name);
  StudyPart part{"data " + entry.name};
  part.questions = data.count;
  part.bytes = data.bytes;
  const auto file = plan_.data_file(entry.name);
  if (entry.is_made() && path_exists(file)) part.there = data.bytes;
  return part;
}

TriedPrompts StudySizes::try_prompts(const Asking& asking, const std::vector<questions::Item>& items,
                                     std::size_t most) const {
  TriedPrompts tried;
  const auto folder = plan_.model_folder(*asking.model.entry);
  const run::Prompter prompter(asking.request.prompt_template,
                               run::settle(plan_.chat_use(), plan_.chat(), folder), folder,
                               asking.guess ? std::nullopt : asking.model.tokenizer);
  const std::int64_t room = asking.model.config->context - asking.request.decode.max_new_tokens;
  double text = 0, all_tokens = 0, tables = 0, compact = 0, chosen = 0, full = 0;
  for (std::size_t i = 0; i < items.size() && i < most; ++i) {
    ++tried.tried;
    try {
      auto item = prompter.arranged(items[i], asking.request.arrangement);
      if (asking.cut_to_fit) prompter.fit(item, static_cast<std::size_t>(std::max<std::int64_t>(room, 1)));
      const auto prompt = prompter.prompt(item);
      const auto tokens =
          static_cast<std::int64_t>(prompt.prompt.ids.size()) + asking.request.decode.max_new_tokens;
      tried.longest = std::max(tried.longest, tokens);
      text += static_cast<double>(prompt.prompt.rendered.size());
      all_tokens += static_cast<double>(tokens);
      if (!asking.request.observe.empty()) {
        const auto bytes = run::expected_bytes(*asking.model.config, asking.request, prompt, asking.analyses);
        tables += static_cast<double>(bytes.tables), compact += static_cast<double>(bytes.compact);
        chosen += static_cast<double>(bytes.chosen), full += static_cast<double>(bytes.full);
      }
      ++tried.made;
    } catch (const Error& error) {
      if (tried.first_error.empty()) tried.first_error = error.what();
    }
  }
  if (tried.made == 0) return tried;
  tried.text_bytes = text / static_cast<double>(tried.made);
  tried.tokens = all_tokens / static_cast<double>(tried.made);
  const auto mean = [&](double sum) {
    return static_cast<std::uint64_t>(sum / static_cast<double>(tried.made));
  };
  tried.sample = {
      .tables = mean(tables), .compact = mean(compact), .full = mean(full), .chosen = mean(chosen)};
  return tried;
}

// A masked-diffusion model sees the whole row in every pass, one that decodes blocks its block over a cache,
// another one each token once. Whoever observes looks at the whole row once more, and decodes blocks twice.
double StudySizes::work_of(const Asking& asking, const TriedPrompts& tried, bool observed) {
  constexpr std::int64_t kPublishedBlock = 32;
  const ModelConfig& config = *asking.model.config;
  const auto& options = asking.request.decode;
  const auto forwards = static_cast<double>(run::forwards_of(config.family, options));
  double rows = tried.tokens;
  if (decode::decodes_blocks(config, options)) {
    const auto block = options.block_length.value_or(config.block_length.value_or(kPublishedBlock));
    rows += forwards * static_cast<double>(block);
    if (observed) rows *= 2;
  } else if (decode::decodes_masks(config, options)) {
    rows *= forwards;
  }
  if (observed) rows += tried.tokens;
  return 2 * rows * static_cast<double>(model::active_parameters_of(config));
}

void StudySizes::note_failure(const std::string& part, const TriedPrompts& tried, std::size_t count) {
  if (tried.made == 0 && tried.tried > 0 && tried.tried == count)
    problems_.push_back(fmt::format("{}: no question can be asked: {}", part, tried.first_error));
}

StudyPart StudySizes::trace(const study::TraceEntry& entry, const study::ModelEntry& entry_of_model) {
  StudyPart part{fmt::format("trace {}, {}", entry.name, entry_of_model.name)};
  const auto& model = facts_.models.at(entry_of_model.name);
  const auto found = facts_.data.find(entry.data);
  const bool control = entry_of_model.untrained_seed.has_value();
  part.known = model.config && found != facts_.data.end();
  if (!part.known) return part;
  const auto& data = found->second;
  const std::size_t all = std::min(data.count, entry.request.read.limit);
  const std::size_t count = control ? control_questions(all) : all;
  auto request = plan_.trace_request(entry, entry_of_model);
  request.decode = run::fitting(model.config->family, request.decode);
  const Asking asking{model, request, false, data.expected, plan_.kept_analyses(entry, request.plan())};
  const auto tried = try_prompts(asking, data.sample, std::min(count, StudyData::kSample));
  note_failure(part.name, tried, count);
  longest_[entry_of_model.name] = std::max(longest_[entry_of_model.name], tried.longest);
  part.questions = count;
  part.forwards = count * (run::forwards_of(model.config->family, request.decode) + 1);
  part.work = static_cast<double>(count) * work_of(asking, tried, true);
  const auto chosen = static_cast<std::uint64_t>(request.compact_samples);
  for (const auto level : trace::kLevels)
    part.of_level[level] = tried.sample.of_run(level, count, chosen) + kBytesOfEntry * count;
  part.level = request.keep;
  part.bytes = part.of_level.at(request.keep);
  part.there = bytes_in_folder(request.folder);
  return part;
}

StudyPart StudySizes::evaluation(const study::EvaluateEntry& entry) {
  StudyPart part{"evaluate " + entry.name};
  const auto spec = plan_.evaluation_spec(entry);
  const auto conditions = plan_.expected_conditions(entry);
  part.bytes = kBytesOfTables;
  for (const auto* entry_of_model : plan_.models_of(entry.models)) {
    const auto& model = facts_.models.at(entry_of_model->name);
    if (!model.config) {
      part.known = false;
      continue;
    }
    const Family family = model.config->family;
    for (const auto& name : entry.data) {
      const auto found = facts_.data.find(name);
      if (found == facts_.data.end()) {
        part.known = false;
        continue;
      }
      const auto& data = found->second;
      const std::size_t count = std::min(data.count, entry.request.read.limit);
      for (const auto& condition : conditions) {
        const auto decoding = run::fitting(family, spec.decoding(entry_of_model->name));
        if (!run::applies(condition, decode::decodes_masks(*model.config, decoding))) continue;
        run::Request request = spec;
        request.decode =
            run::fitting(family, run::decoding_of(condition, spec.decoding(entry_of_model->name)));
        request.prompt_template = run::template_for(spec, condition);
        request.arrangement = without_noise(condition);
        const Asking asking{model, request, true, data.expected};
        const auto tried = try_prompts(asking, data.sample, std::min(count, kTriedAnswers));
        note_failure(fmt::format("{}, {}, {}, {}", part.name, entry_of_model->name, name, condition.name),
                     tried, count);
        auto& longest = longest_[entry_of_model->name];
        longest = std::max(longest, tried.longest);
        part.questions += count;
        const bool observed = !request.observe.empty();
        part.forwards += count * (run::forwards_of(family, request.decode) + (observed ? 1 : 0));
        part.work += static_cast<double>(count) * work_of(asking, tried, observed);
        // Of what is observed a few numbers are kept, which the bytes of an answer allow for.
        const double each = 1.1 * tried.text_bytes + kBytesOfAnswer + 4.0 * request.decode.max_new_tokens;
        part.bytes += static_cast<std::uint64_t>(each * static_cast<double>(count));
      }
    }
  }
  part.there = bytes_in_folder(plan_.evaluation_folder(entry.name));
  return part;
}

StudyPart StudySizes::report(const StudyPlan& plan) {
  StudyPart part{"report"};
  part.bytes = kBytesOfReport;
  part.there = bytes_in_folder(plan.report_folder());
  return part;
}

std::int64_t StudySizes::longest(const std::string& model) const {
  const auto found = longest_.find(model);
  return found == longest_.end() ? 0 : found->second;
}

}  // namespace buoy::study
