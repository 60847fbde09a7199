#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>

#include "buoy/app/commands/commands.h"
#include "buoy/app/options/shared_options.h"
#include "buoy/base/counted.h"
#include "buoy/base/file/json_file.h"
#include "buoy/base/utf8.h"
#include "buoy/result/schema/search.h"
#include "buoy/result/table.h"
#include "buoy/retrieve/index.h"

namespace buoy::app {
namespace {

struct SearchCall {
  std::string index, question;
  std::size_t top = 5;
  retrieve::SearchOptions search;
  bool json = false;
};

constexpr std::size_t kShownBytes = 72;

// The beginning of a text, on one line, for a table.
std::string beginning(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  }
  if (text.size() <= kShownBytes) return text;
  text.resize(kShownBytes);
  text.resize(first_invalid_utf8(text));  // a character that was cut
  return text + "...";
}

void print_table(const std::vector<retrieve::Hit>& hits) {
  const auto& t = schema::hits;
  Table table(t);
  std::int64_t rank = 0;
  for (const auto& hit : hits) {
    table.add({{t.rank, ++rank},
               {t.score, hit.score},
               {t.document, hit.document},
               {t.passage, hit.passage},
               {t.title, beginning(hit.title)},
               {t.text, beginning(hit.text)}});
  }
  fmt::print("{}", to_text(table));
}

void print_json(const SearchCall& call, const retrieve::Index& index,
                const std::vector<retrieve::Hit>& hits) {
  Json list = Json::array();
  for (const auto& hit : hits) {
    list.push_back({{"document", hit.document},
                    {"passage", hit.passage},
                    {"title", hit.title},
                    {"text", hit.text},
                    {"score", hit.score}});
  }
  const Json all = {
      {"question", replace_invalid_utf8(call.question)}, {"index", index.identity()}, {"hits", list}};
  fmt::print("{}\n", dump_json(all, 2));
}

void search(const SearchCall& call) {
  const auto index = retrieve::Index::open(call.index);
  const auto hits = index.search(call.question, call.top, call.search);
  if (call.json) {
    print_json(call, index, hits);
  } else if (hits.empty()) {
    fmt::print("nothing found among {}\n",
               counted(static_cast<std::uint64_t>(index.description().passages), "passage"));
  } else {
    print_table(hits);
  }
}

}  // namespace

void add_search(Command& app) {
  auto* command = app.add_subcommand("search", "the passages of an index that fit a question best");
  auto call = std::make_shared<SearchCall>();
  command->add_option("index", call->index, "what `buoy index` wrote")->required()->type_name("DB");
  command->add_option("question", call->question, "in plain words")->required()->type_name("QUESTION");
  add_top_option(*command, call->top);
  command->add_option("--title-weight", call->search.title_weight, "what a word in the title counts (1)");
  command->add_option("--text-weight", call->search.text_weight, "what a word in the text counts (1)");
  add_json_flag(*command, call->json);
  command->examples(
      {{"buoy search wiki.db \"Who painted the Night Watch?\"", "an index that buoy index wrote"}});
  command->callback([call] { search(*call); });
}

}  // namespace buoy::app
