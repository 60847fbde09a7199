#include "buoy/study/study_check.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>

#include "buoy/analysis/core/analysis.h"
#include "buoy/base/error.h"
#include "buoy/base/file/disk_space.h"
#include "buoy/base/file/files.h"
#include "buoy/checkpoint/initialisation.h"
#include "buoy/claims/siblings.h"
#include "buoy/observe/plan.h"
#include "buoy/questions/data/item_json.h"
#include "buoy/questions/data/item_reader.h"
#include "buoy/questions/prompt/prompt_template.h"
#include "buoy/run/attention_features.h"
#include "buoy/study/data/made_data.h"
#include "buoy/study/design/controls.h"
#include "buoy/study/design/power.h"
#include "buoy/study/memory_line.h"
#include "buoy/study/output_folder.h"
#include "buoy/study/published/published_values.h"
#include "buoy/study/study_outcomes.h"
#include "buoy/trace/index.h"

namespace buoy::study {
namespace {

namespace fs = std::filesystem;

class Examination {
 public:
  Examination(const StudyPlan& plan, Device device) : plan_(plan), study_(plan.study()), device_(device) {}

  StudyFindings run() {
    attempt(study_.file.string(), [&] { check_output_folder(study_.out); });
    for (const auto& model : study_.models) look_at_model(model);
    for (const auto& file : study_.siblings) {
      if (is_there("siblings.tables", "a table claim_quantities.csv", file))
        attempt("siblings.tables", [&] { claims::read_quantities(plan_.beside(file)); });
    }
    if (study_.published && is_there("published.file", "a file of published values", study_.published->file))
      attempt("published",
              [&] { read_published(plan_.beside(study_.published->file), study_.published->papers); });
    look_at_controls();
    for (const auto& data : study_.data) attempt("data " + data.name, [&] { look_at_data(data); });
    look_at_template("prompt.with_passages", study_.prompt.with_passages);
    look_at_template("prompt.closed_book", study_.prompt.closed_book);
    for (const auto& trace : study_.traces) look_at_trace(trace);
    for (const auto& entry : study_.evaluations) look_at_evaluation(entry);
    for (const auto& name : study_.report.analyses) attempt("report", [&] { analysis::find_analysis(name); });
    measure();
    findings_.excluded = excluded_outcomes(plan_, facts_);
    findings_.detectable = detectable_effects(plan_, facts_);
    return std::move(findings_);
  }

 private:
  void fail(std::string problem) { findings_.problems.push_back(std::move(problem)); }

  // What is refused is refused of this part of the study; the others are still looked at.
  bool attempt(const std::string& part, const std::function<void()>& look) {
    try {
      look();
      return true;
    } catch (const Error& error) {
      fail(part + ": " + error.what());
      return false;
    }
  }

  // A path of the study that is not there. Studies used to mean paths from where the program ran.
  bool is_there(const std::string& where, const char* what, const fs::path& written) {
    const fs::path meant = plan_.beside(written);
    if (path_exists(meant)) return true;
    std::string found = "nothing";
    if (meant != written && path_exists(written)) {
      const auto from = fs::absolute(study_.file).lexically_normal().parent_path();
      found += fmt::format(" there, but {} in the working directory (to mean that, write \"{}\")",
                           written.string(),
                           fs::absolute(written).lexically_normal().lexically_relative(from).string());
    }
    fail(describe(Mismatch{
        where, fmt::format("{} at {} (paths are relative to the study's file)", what, meant.string()),
        found}));
    return false;
  }

  void look_at_model(const study::ModelEntry& entry) {
    const std::string where = "models." + entry.name;
    StudyModel& model = facts_.models[entry.name];
    model.entry = &entry;
    const bool there = (plan_.is_id(entry) || is_there(where, "a Hugging Face folder", entry.path)) &&
                       attempt(where, [&] { plan_.found_folder(entry); });
    if (there || entry.expected) look_at_folder(where, entry, there, model);
    if (plan_.is_id(entry)) add_download(entry, there, model);
  }

  void look_at_folder(const std::string& where, const study::ModelEntry& entry, bool there,
                      StudyModel& model) {
    const fs::path folder = plan_.model_folder(entry);
    if (!attempt(where, [&] { model.config = read_config(folder); })) return;
    const auto decode = run::fitting(model.config->family, plan_.decoding(entry));
    attempt(where, [&] { run::check_decoding(*model.config, decode); });
    if (!there) return;
    attempt(where, [&] {
      if (!run::has_tokenizer(folder)) run::need_tokenizer(std::nullopt, folder);
      auto tokenizer = text::Tokenizer::load(folder);
      run::check_vocabulary(tokenizer, *model.config, folder);
      model.tokenizer = std::move(tokenizer);
    });
    attempt(where, [&] { model.stored_bytes = model::Model::load(folder).checkpoint().weight_bytes(); });
    attempt(where, [&] {
      const auto chat = run::settle(plan_.chat_use(), plan_.chat(), folder);
      if (chat.use) run::ChatRenderer(chat, folder).user_message("a message");
    });
  }

  // The same files may be several models: read in two ways, or decoded differently.
  void add_download(const study::ModelEntry& entry, bool there, const StudyModel& model) {
    const std::string id = entry.path.string();
    auto& all = findings_.downloads;
    auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.id == id; });
    if (found == all.end()) found = all.insert(all.end(), {id, {}, there, model.stored_bytes});
    found->models.push_back(entry.name);
    if (there || found->bytes > 0) return;
    if (entry.expected && entry.expected->gigabytes) {
      found->bytes = static_cast<std::uint64_t>(*entry.expected->gigabytes * 1e9);
    } else if (model.config) {
      found->bytes = 2 * model::parameters_of(*model.config);
    }
  }

  // What is known of a model is known of its twins; as many weights are made as it has.
  void look_at_controls() {
    twins_ = untrained_twins(plan_);
    for (const auto& twin : twins_) {
      StudyModel model = facts_.models.at(twin.of.front());
      model.entry = &twin.model;
      attempt("models." + twin.of.front(),
              [&] { initialisation_of(plan_.model_folder(twin.model), *twin.model.untrained_seed); });
      facts_.models[twin.model.name] = std::move(model);
    }
  }

  void look_at_data(const study::DataEntry& entry) {
    StudyData data;
    if (entry.haystack) {
      const auto counting = plan_.models_of({entry.haystack->model});
      if (counting.empty() || !facts_.models.at(counting.front()->name).tokenizer) return;  // said already
      if (!entry.haystack->filler.empty() &&
          !is_there("data " + entry.name + ": filler", "a text", entry.haystack->filler))
        return;
    }
    if (entry.is_made()) {
      auto made = made_sample(plan_, entry, StudyData::kSample);
      data.count = made.count;
      data.sample = std::move(made.sample);
      data.bytes = made.bytes;
    } else {
      if (!is_there("data " + entry.name, "a file of questions", entry.file)) {
        if (entry.expected) facts_.data[entry.name] = expected_data(*entry.expected);
        return;
      }
      const bool asked =
          std::any_of(study_.evaluations.begin(), study_.evaluations.end(), [&](const auto& run) {
            return std::find(run.data.begin(), run.data.end(), entry.name) != run.data.end();
          });
      questions::ItemReader reader(plan_.data_file(entry.name), {.require_answers = asked});
      while (auto item = reader.next()) {
        if (data.count++ < StudyData::kSample) data.sample.push_back(std::move(*item));
      }
    }
    facts_.data[entry.name] = std::move(data);
  }

  void look_at_template(const std::string& where, const std::string& written) {
    const std::string meant = plan_.prompt_template(written);
    if (meant.empty()) return;
    attempt(where, [&] {
      // A built-in one is meant as it is written, and so is an absolute path.
      if (meant != written && !is_there(where, "a template", written)) return;
      questions::PromptTemplate::load(meant);
    });
  }

  // Models of a part whose config could be read.
  template <typename Look>
  void for_models(const std::vector<std::string>& names, const Look& look) {
    for (const auto* entry : plan_.models_of(names)) {
      const auto& model = facts_.models.at(entry->name);
      if (model.config) look(*entry, *model.config);
    }
  }

  // What a part decodes differently must fit every model that it asks.
  template <typename Part>
  void look_at_own_decoding(const std::string& where, const Part& part) {
    if (part.decoding.given.empty()) return;
    for_models(part.models, [&](const auto& model, const ModelConfig& config) {
      attempt(fmt::format("{}, {}", where, model.name),
              [&] { run::check_decoding(config, run::fitting(config.family, plan_.decoding(model, part))); });
    });
  }

  void look_at_trace(const study::TraceEntry& trace) {
    const std::string where = "trace " + trace.name;
    look_at_template(where + ": prompt", trace.request.prompt_template);
    attempt(where, [&] {
      const auto plan = trace.request.plan();
      for_models(trace.models, [&](const auto& entry, const ModelConfig& config) {
        attempt(fmt::format("{}, {}", where, entry.name), [&] { plan.layers.below(config.layers); });
      });
    });
    attempt(where, [&] {
      if (trace.request.groups != "regions") observe::QueryGroups::parse(trace.request.groups, {});
    });
    attempt(where, [&] { run::check_arrangement(trace.request.arrangement); });
    look_at_own_decoding(where, trace);
    for (const auto* model : plan_.models_of(trace.models)) look_at_earlier_run(trace, *model);
    for (const auto& twin : twins_of(twins_, plan_, trace)) look_at_earlier_run(trace, twin.model);
  }

  // The study goes on with the traces that it finds: they must keep what it asks for.
  void look_at_earlier_run(const study::TraceEntry& trace, const study::ModelEntry& model) {
    const auto manifest = trace::manifest_path(plan_.trace_folder(trace.name, model.name));
    attempt(fmt::format("trace {}, {}", trace.name, model.name), [&] {
      if (!path_exists(manifest)) return;
      const auto stored = trace::read_index(manifest.parent_path()).manifest.level;
      if (stored != trace.request.keep)
        throw_input_error(
            {manifest.string() + ": `keep`", fmt::format("{} as in the trace", name_of(stored)),
             fmt::format("{} (another `out` leaves that trace alone)", name_of(trace.request.keep))});
    });
  }

  void look_at_evaluation(const study::EvaluateEntry& entry) {
    const std::string where = "evaluate " + entry.name;
    look_at_template(where + ": prompt", entry.request.prompt_template);
    attempt(where, [&] { run::require_features(plan_.completed(entry.request).observe); });
    if (entry.heads) {
      look_at_used_trace(where + ": heads.trace", entry, entry.heads->trace);
      if (!(entry.heads->share > 0 && entry.heads->share < 1)) {
        fail(describe(Mismatch{where + ": heads.share", "more than 0 and less than 1",
                               fmt::format("{:g}", entry.heads->share)}));
        return;  // the conditions would say it again
      }
    }
    if (!entry.columns_from.empty()) look_at_used_trace(where + ": columns_from", entry, entry.columns_from);
    look_at_own_decoding(where, entry);
    attempt(where, [&] {
      for (const auto& condition : plan_.expected_conditions(entry)) {
        if (condition.axis == "prompt") look_at_template(where, condition.value);
        if (condition.top) look_at_hidden_keys(where, entry, *condition.top);
        if (!condition.order && !condition.slots && !condition.steps) continue;
        for_models(entry.models, [&](const auto& model, const ModelConfig& config) {
          const auto decoding = run::fitting(config.family, plan_.decoding(model, entry));
          if (!run::applies(condition, decode::decodes_masks(config, decoding))) return;
          attempt(fmt::format("{}, {}", where, model.name), [&] {
            run::check_decoding(
                config,
                run::fitting(config.family, run::decoding_of(condition, plan_.decoding(model, entry))));
          });
        });
      }
      look_at_ready_prompts(where, entry);
    });
  }

  void look_at_hidden_keys(const std::string& where, const study::EvaluateEntry& entry,
                           const run::TopChange& change) {
    for_models(entry.models, [&](const auto& model, const ModelConfig& config) {
      const auto decoding = run::fitting(config.family, plan_.decoding(model, entry));
      attempt(fmt::format("{}, {}", where, model.name),
              [&] { run::check_top_steps(change, decoding.steps.value_or(decoding.max_new_tokens)); });
    });
  }

  void look_at_ready_prompts(const std::string& where, const study::EvaluateEntry& entry) {
    auto spec = plan_.evaluation_spec(entry);
    spec.conditions = plan_.expected_conditions(entry);
    for (const auto& data : spec.data) {
      const auto facts = facts_.data.find(data.name);
      if (facts == facts_.data.end()) continue;
      const auto& sample = facts->second.sample;
      const auto ready = std::find_if(sample.begin(), sample.end(),
                                      [](const auto& item) { return item.prompt && !item.question.empty(); });
      if (ready != sample.end()) attempt(where, [&] { run::require_template(spec, data.path, ready->id); });
    }
  }

  // Heads and columns are those of traces: of every model that is asked, with what they need in them.
  void look_at_used_trace(const std::string& where, const study::EvaluateEntry& entry,
                          const std::string& name) {
    const auto* trace = plan_.trace(name);
    if (trace == nullptr) return;  // said when the file was read
    const auto traced = plan_.models_of(trace->models);
    for (const auto* model : plan_.models_of(entry.models)) {
      if (std::find(traced.begin(), traced.end(), model) == traced.end())
        fail(describe(Mismatch{where, fmt::format("a trace of {}", model->name),
                               fmt::format("\"{}\", which is not of it", name)}));
    }
    if (where.ends_with("columns_from") &&
        std::any_of(entry.data.begin(), entry.data.end(), [&](const auto& d) { return d != trace->data; }))
      fail(describe(Mismatch{where, "a trace of the same data",
                             fmt::format("\"{}\", which is of {}", name, trace->data)}));
  }

  void measure() {
    StudySizes sizes(plan_, facts_);
    for (const auto& data : study_.data) {
      if (facts_.data.contains(data.name)) findings_.parts.push_back(sizes.data(data));
    }
    const auto add = [&](const std::function<StudyPart()>& part) {
      try {
        findings_.parts.push_back(part());
      } catch (const Error& error) {
        // What cannot be measured is wrong in a way that was found above; otherwise it is said here.
        if (findings_.problems.empty()) fail(error.what());
      }
    };
    for (const auto& trace : study_.traces) {
      for (const auto* model : plan_.models_of(trace.models)) add([&] { return sizes.trace(trace, *model); });
      for (const auto& twin : twins_of(twins_, plan_, trace))
        add([&] { return sizes.trace(trace, twin.model); });
    }
    for (const auto& entry : study_.evaluations) add([&] { return sizes.evaluation(entry); });
    findings_.parts.push_back(StudySizes::report(plan_));
    for (const auto& problem : sizes.problems()) fail(problem);
    for (const auto& entry : study_.models) {
      const auto& model = facts_.models.at(entry.name);
      if (!model.config) continue;
      const std::int64_t packed = run::EvaluationSpec().batch.token_budget;
      const model::MemoryCase of{device_, std::max(packed, sizes.longest(entry.name)), model.stored_bytes};
      const auto machine = machine_memory(device_);
      findings_.memory.push_back(entry.name + ": " + memory_line(*model.config, of, machine));
      if (device_ != Device::kCuda) continue;  // a CPU reads from the file what does not fit
      attempt("models." + entry.name, [&] {
        model::require_room(*model.config, model::memory_need(*model.config, of).weights,
                            {machine.name, machine.total, machine.total});
      });
    }
    attempt(study_.file.string(), [&] { findings_.free_bytes = free_disk_bytes(study_.out); });
  }

  const StudyPlan& plan_;
  const study::Study& study_;
  Device device_;
  std::vector<Twin> twins_;
  StudyFacts facts_;
  StudyFindings findings_;
};

}  // namespace

bool StudyFindings::sizes_known() const {
  return std::all_of(parts.begin(), parts.end(), [](const auto& part) { return part.known; });
}

std::uint64_t StudyFindings::missing_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& part : parts) bytes += part.missing();
  return bytes;
}

StudyFindings examine(const StudyPlan& plan, Device device) {
  return Examination(plan, device).run();
}

}  // namespace buoy::study
