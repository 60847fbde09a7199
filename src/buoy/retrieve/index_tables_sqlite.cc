#include <fmt/format.h>

#include <charconv>

#include "buoy/base/error.h"
#include "buoy/base/sha256.h"
#include "buoy/retrieve/index_tables.h"

namespace buoy::retrieve {
namespace {

// The names under which numbers of the description are stored.
template <typename Description, typename Visit>
void visit_numbers(Description& description, const Visit& visit) {
  visit("passage_words", description.passage_options.words);
  visit("overlap_words", description.passage_options.overlap);
  visit("documents", description.documents);
  visit("blank_documents", description.blank_documents);
  visit("passages", description.passages);
}

std::string value_of(const Database& database, const std::string& key, const std::string& name) {
  Statement statement = database.prepare("SELECT value FROM about WHERE key = ?");
  statement.bind(1, key);
  if (!statement.step()) throw_input_error({name + ": " + key, "a value", "none"});
  return statement.text(0);
}

template <typename Number>
Number parse_number(const std::string& text, const std::string& where) {
  Number number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size() || number < 0) {
    throw_input_error({where, "a whole number", fmt::format("\"{}\"", text)});
  }
  return number;
}

}  // namespace

void create_tables(Database& database, const std::string& tokenizer) {
  database.execute(fmt::format("PRAGMA application_id = {}", kApplicationId));
  database.execute(fmt::format("PRAGMA user_version = {}", kIndexVersion));
  database.execute("CREATE TABLE about(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID");
  database.execute(
      "CREATE TABLE source(number INTEGER PRIMARY KEY, name TEXT NOT NULL, bytes INTEGER NOT NULL, "
      "sha256 TEXT NOT NULL, documents INTEGER NOT NULL, passages INTEGER NOT NULL)");
  database.execute(fmt::format(
      "CREATE VIRTUAL TABLE passage USING fts5(title, text, document UNINDEXED, number UNINDEXED, "
      "tokenize = '{}')",
      tokenizer));
}

void write_description(Database& database, const Description& description) {
  Statement about = database.prepare("INSERT INTO about(key, value) VALUES(?, ?)");
  const auto store = [&](std::string_view key, const std::string& value) {
    about.bind(1, key);
    about.bind(2, value);
    about.run();
  };
  store("tokenizer", description.tokenizer);
  store("content_sha256", description.content_sha256);
  visit_numbers(description, [&](const char* key, auto number) { store(key, std::to_string(number)); });
  Statement source =
      database.prepare("INSERT INTO source(name, bytes, sha256, documents, passages) VALUES(?, ?, ?, ?, ?)");
  for (const auto& record : description.sources) {
    source.bind(1, record.name);
    source.bind(2, static_cast<std::int64_t>(record.bytes));
    source.bind(3, record.sha256);
    source.bind(4, record.documents);
    source.bind(5, record.passages);
    source.run();
  }
}

void check_version(const Database& database, const std::string& name) {
  if (database.integer("PRAGMA application_id") != kApplicationId) {
    throw_input_error({name, "a Buoy index", "an SQLite database of another program"});
  }
  const auto version = database.integer("PRAGMA user_version");
  if (version != kIndexVersion) {
    throw_input_error({name, fmt::format("an index of format {}; `buoy index` makes one", kIndexVersion),
                       fmt::format("format {}", version)});
  }
}

Description read_description(const Database& database, const std::string& name) {
  Description description;
  description.tokenizer = value_of(database, "tokenizer", name);
  description.content_sha256 = value_of(database, "content_sha256", name);
  if (!is_sha256_hex(description.content_sha256)) {
    throw_input_error({name + ": content_sha256", "64 hexadecimal digits", description.content_sha256});
  }
  visit_numbers(description, [&](const char* key, auto& number) {
    number = parse_number<std::remove_reference_t<decltype(number)>>(value_of(database, key, name),
                                                                     name + ": " + key);
  });
  Statement source =
      database.prepare("SELECT name, bytes, sha256, documents, passages FROM source ORDER BY number");
  while (source.step()) {
    const std::int64_t bytes = source.integer(1), documents = source.integer(3), passages = source.integer(4);
    if (bytes < 0 || documents < 0 || passages < 0)
      throw_input_error({name + ": source", "sizes of at least 0", "a negative one"});
    description.sources.push_back(
        {source.text(0), static_cast<std::uint64_t>(bytes), source.text(2), documents, passages});
  }
  return description;
}

}  // namespace buoy::retrieve
