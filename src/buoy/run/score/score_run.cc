#include "buoy/run/score/score_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "buoy/base/error.h"
#include "buoy/base/field_name.h"
#include "buoy/questions/passages.h"
#include "buoy/result/schema/score.h"
#include "buoy/run/prompter.h"

namespace buoy::run {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

// Scores the items of one request.
class ItemScorer {
 public:
  ItemScorer(const Context& context, LoadedModel& model, const ScoreRequest& request)
      : context_(context),
        model_(model),
        request_(request),
        tokenizer_(need_tokenizer(model.tokenizer, model.model.checkpoint().folder())),
        prompter_(request.prompt_template, request.chat, model.model.checkpoint().folder(), model.tokenizer) {
  }

  ScoredItem score(const questions::Item& item) const {
    ScoredItem out;
    out.id = item.id;
    try {
      const auto arranged = prompter_.arranged(item, request_.arrangement);
      request_.texts ? score_text(arranged, out) : score_answers(arranged, out);
      if (request_.leave_out) leave_out(arranged, out);
    } catch (const UsageError& error) {
      out.error = error.what();
    } catch (const InputError& error) {
      out.error = error.what();
    }
    return out;
  }

 private:
  AnswerScore score(const std::vector<std::int32_t>& prompt, const std::vector<std::int32_t>& answer) const {
    return score_tokens(context_, model_.model, request_.score, prompt, answer);
  }
  std::vector<std::int32_t> tokens_of(const Prompt& prompt, const std::string& answer) const {
    return tokenizer_.encode(continuation(prompt.rendered, answer), false).ids;
  }

  void score_answers(const questions::Item& item, ScoredItem& out) const {
    if (item.answers.empty()) throw_input_error({"item " + item.id, "at least one answer", "none"});
    const auto prompt = prompter_.prompt(item).prompt;
    out.prompt_tokens = std::ssize(prompt.ids);
    for (const auto& answer : item.answers) {
      auto tokens = tokens_of(prompt, answer);
      auto scored = score(prompt.ids, tokens);
      out.answers.push_back({answer, std::move(tokens), std::move(scored)});
    }
  }

  // Its first token is given: before it there is nothing to expect it from.
  void score_text(const questions::Item& item, ScoredItem& out) const {
    const auto prompt = prompter_.prompt(item).prompt;
    if (prompt.ids.size() < 2)
      throw_input_error(
          {"item " + item.id, "a text of at least two tokens", std::to_string(prompt.ids.size())});
    std::vector<std::int32_t> rest(prompt.ids.begin() + 1, prompt.ids.end());
    out.prompt_tokens = 1;
    auto scored = score({prompt.ids[0]}, rest);
    out.answers.push_back({prompt.rendered, std::move(rest), std::move(scored)});
  }

  void leave_out(const questions::Item& item, ScoredItem& out) const {
    if (item.passages.size() < 2)
      throw_input_error({"item " + item.id, "at least two passages, to leave one out",
                         std::to_string(item.passages.size())});
    const auto whole = prompter_.prompt(item).prompt.ids;
    for (std::size_t n = 0; n < item.passages.size(); ++n) {
      const auto prompt = prompter_.prompt(prompter_.without_passage(item, n)).prompt;
      if (prompt.ids == whole)
        throw_input_error({fmt::format("item {}: prompt", item.id),
                           fmt::format("passage {} in it, to leave it out", n + 1),
                           "the same prompt without it"});
      out.passages.push_back(
          {item.passages[n].gold, score(prompt.ids, tokens_of(prompt, item.answers[0])).sum()});
    }
  }

  const Context& context_;
  LoadedModel& model_;
  const ScoreRequest& request_;
  const text::Tokenizer& tokenizer_;
  Prompter prompter_;
};

Table summary_table(const std::vector<ScoredItem>& items, const std::string& form) {
  const auto& t = schema::score_summary;
  Table table(t);
  std::int64_t scored = 0, failed = 0, answers = 0, tokens = 0, several = 0, best = 0, left_out = 0, gold = 0;
  double sum = 0;
  for (const auto& item : items) {
    if (!item.error.empty()) {
      ++failed;
      continue;
    }
    ++scored;
    for (const auto& answer : item.answers) {
      ++answers;
      tokens += std::ssize(answer.tokens);
      sum += answer.score.sum();
    }
    if (item.answers.size() > 1) {
      ++several;
      best += std::all_of(item.answers.begin() + 1, item.answers.end(),
                          [&](const auto& other) { return item.answers[0].score.sum() > other.score.sum(); });
    }
    if (item.passages.empty()) continue;
    ++left_out;
    // The one without which the answer is least probable.
    const auto most = std::min_element(item.passages.begin(), item.passages.end(),
                                       [](const auto& a, const auto& b) { return a.without < b.without; });
    gold += most->gold;
  }
  const auto share = [](std::int64_t part, std::int64_t of) {
    return number_cell(static_cast<double>(part) / static_cast<double>(of));
  };
  const double mean = sum / static_cast<double>(tokens);
  table.add({{t.form, form},
             {t.items, scored},
             {t.failed, failed},
             {t.answers, answers},
             {t.tokens, tokens},
             {t.per_token, number_cell(mean)},
             {t.perplexity, number_cell(std::exp(-mean))},
             {t.best_first, share(best, several)},
             {t.gold_first, share(gold, left_out)}});
  return table;
}

Table answer_table(const std::vector<ScoredItem>& items, const std::string& form) {
  const auto& t = schema::score_answers;
  Table table(t);
  for (const auto& item : items) {
    for (std::size_t n = 0; n < item.answers.size(); ++n) {
      const auto& [text, tokens, score] = item.answers[n];
      const double mean = score.sum() / static_cast<double>(tokens.size());
      table.add({{t.item, item.id},
                 {t.answer, static_cast<std::int64_t>(n) + 1},
                 {t.text, text},
                 {t.form, form},
                 {t.prompt_tokens, item.prompt_tokens},
                 {t.tokens, std::ssize(tokens)},
                 {t.log_probability, score.sum()},
                 {t.per_token, mean},
                 {t.perplexity, number_cell(std::exp(-mean))}});
    }
  }
  return table;
}

Table token_table(const std::vector<ScoredItem>& items, const text::Tokenizer& tokenizer) {
  const auto& t = schema::score_tokens;
  Table table(t);
  for (const auto& item : items) {
    for (std::size_t n = 0; n < item.answers.size(); ++n) {
      const auto& [text, tokens, score] = item.answers[n];
      for (std::size_t i = 0; i < tokens.size(); ++i) {
        table.add({{t.item, item.id},
                   {t.answer, static_cast<std::int64_t>(n) + 1},
                   {t.place, static_cast<std::int64_t>(i)},
                   {t.token, std::int64_t{tokens[i]}},
                   {t.text, tokenizer.token_text(tokens[i])},
                   {t.step, std::int64_t{score.step[i]}},
                   {t.log_probability, score.log_probability[i]}});
      }
    }
  }
  return table;
}

Table passage_table(const std::vector<ScoredItem>& items) {
  const auto& t = schema::score_passages;
  Table table(t);
  for (const auto& item : items) {
    if (!item.error.empty()) continue;
    for (std::size_t n = 0; n < item.passages.size(); ++n) {
      const auto& passage = item.passages[n];
      std::int64_t rank = 1;
      for (const auto& other : item.passages) rank += other.without < passage.without;
      table.add({{t.item, item.id},
                 {t.passage, static_cast<std::int64_t>(n) + 1},
                 {t.gold, std::int64_t{passage.gold}},
                 {t.without, passage.without},
                 {t.influence, item.answers[0].score.sum() - passage.without},
                 {t.rank, rank}});
    }
  }
  return table;
}

}  // namespace

std::string continuation(const std::string& prompt, const std::string& answer) {
  const bool apart = prompt.empty() || is_space(prompt.back()) || answer.empty() || is_space(answer.front());
  return apart ? answer : " " + answer;
}

void check_score(const ScoreRequest& request, const ModelConfig& config) {
  settled_form(config, request.score);
  check_arrangement(request.arrangement);
  if (request.texts && request.leave_out)
    throw_usage_error({field_name("leave_out"), "answers, whose passages are left out", "texts"});
  if (request.score.slots < 0)
    throw_usage_error({field_name("slots"), "at least 1", std::to_string(request.score.slots)});
}

std::vector<ScoredItem> score_items(const Context& context, LoadedModel& model, const ScoreRequest& request,
                                    const std::function<void()>& done) {
  check_score(request, model.model.config());
  const ItemScorer scorer(context, model, request);
  std::vector<ScoredItem> out;
  for (const auto& item : request.items) {
    out.push_back(scorer.score(item));
    if (!out.back().error.empty()) out.back().answers.clear();
    if (done) done();
  }
  return out;
}

std::vector<Table> score_tables(const std::vector<ScoredItem>& items, const ScoreRequest& request,
                                const LoadedModel& model) {
  const auto form = name_of_form(model.model.config(), request.score);
  std::vector<Table> tables = {summary_table(items, form), answer_table(items, form),
                               token_table(items, *model.tokenizer)};
  if (request.leave_out) tables.push_back(passage_table(items));
  return tables;
}

}  // namespace buoy::run
