#include <algorithm>
#include <cerrno>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/base/sha256.h"
#include "buoy/retrieve/build_index.h"
#include "buoy/retrieve/database.h"
#include "buoy/retrieve/document_reader.h"
#include "buoy/retrieve/index_tables.h"
#include "buoy/retrieve/partial_file.h"
#include "buoy/retrieve/source_files.h"

namespace buoy::retrieve {
namespace {

// Nobody reads the file before it is whole and synced, so SQLite need not guard against a crash halfway. With
// larger buffers FTS5 writes fewer, longer lists that have to be merged.
constexpr const char* kBulkSettings =
    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE; "
    "PRAGMA cache_size = -65536";
constexpr const char* kBulkHash = "INSERT INTO passage(passage, rank) VALUES('hashsize', 33554432)";
constexpr const char* kMergeAll = "INSERT INTO passage(passage) VALUES('optimize')";

// Sizes keep apart what stands side by side: "ab", "c" is not "a", "bc".
class ContentHash {
 public:
  void add(std::string_view field) {
    const std::string size = std::to_string(field.size()) + ":";
    hash_.update(std::as_bytes(std::span(size)));
    hash_.update(std::as_bytes(std::span(field)));
  }
  std::string hex() const { return hash_.hex(); }

 private:
  Sha256 hash_;
};

// Through a small buffer: a mapped file would count as memory of this process from end to end.
std::string sha256_of_stream(const std::string& name) {
  std::ifstream stream(name, std::ios::binary);
  if (!stream) throw_io_error("open", name, errno);
  Sha256 hash;
  std::vector<char> chunk(std::size_t{1} << 18);
  while (stream.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) || stream.gcount() > 0)
    hash.update(std::as_bytes(std::span(chunk).first(static_cast<std::size_t>(stream.gcount()))));
  if (stream.bad()) throw_io_error("read", name, EIO);
  return hash.hex();
}

class Builder {
 public:
  Builder(Database& database, const BuildOptions& options)
      : options_(options),
        insert_(database.prepare("INSERT INTO passage(title, text, document, number) VALUES(?, ?, ?, ?)")),
        splitter_(options.passages, [this](std::string_view passage) { store(passage); }) {
    description_.tokenizer = tokenizer_setting(options.stem);
    description_.passage_options = options.passages;
  }

  void add(const SourceList& list) {
    std::uint64_t total = 0, done = 0;
    for (const auto& file : list.files) total += file.bytes;
    for (const auto& file : list.files) {
      description_.sources.push_back({file.name, file.bytes, sha256_of_stream(file.name)});
      add_file(file, [&](std::uint64_t bytes) {
        if (options_.on_progress) options_.on_progress(done + bytes, total);
      });
      done += file.bytes;
    }
    description_.content_sha256 = content_.hex();
  }

  const Description& description() const { return description_; }

 private:
  template <typename Report>
  void add_file(const SourceFile& file, const Report& report) {
    const auto reader = DocumentReader::open(file);
    const double bytes_per_text = static_cast<double>(file.bytes) /
                                  static_cast<double>(std::max<std::uint64_t>(1, expected_text_bytes(file)));
    const auto progress = [&] {
      const double bytes = static_cast<double>(reader->text_bytes_read()) * bytes_per_text;
      report(std::min(file.bytes, static_cast<std::uint64_t>(bytes)));
    };
    while (auto document = reader->next()) {
      document_ = *std::move(document);
      number_ = 0;
      while (const auto text = reader->next_text()) {
        splitter_.add(*text);
        progress();
      }
      splitter_.finish();
      ++description_.documents;
      ++description_.sources.back().documents;
      if (number_ == 0) ++description_.blank_documents;
    }
  }

  void store(std::string_view passage) {
    ++number_;
    ++description_.passages;
    ++description_.sources.back().passages;
    for (const std::string_view field :
         {std::string_view(document_.id), std::string_view(document_.title), passage})
      content_.add(field);
    content_.add(std::to_string(number_));
    insert_.bind(1, document_.title);
    insert_.bind(2, passage);
    insert_.bind(3, document_.id);
    insert_.bind(4, number_);
    insert_.run();
  }

  const BuildOptions& options_;
  Statement insert_;
  PassageSplitter splitter_;
  Document document_;
  std::int64_t number_ = 0;  // of the document's last passage
  ContentHash content_;
  Description description_;
};

void check_target(const std::filesystem::path& out, bool replace) {
  if (!path_exists(out)) return;
  if (is_folder(out)) throw_io_error("create", out.string(), EISDIR);
  if (!replace)
    throw_usage_error({out.string(), "a new file, or permission to replace it (`force`)", "one that exists"});
}

Description write_index(const SourceList& sources, const PartialFile& file, const BuildOptions& options,
                        const std::string& name) {
  Database database(file.path(), Database::Mode::kWrite, name);
  database.execute(kBulkSettings);
  database.execute("BEGIN");
  create_tables(database, tokenizer_setting(options.stem));
  database.execute(kBulkHash);
  Builder builder(database, options);
  builder.add(sources);
  if (builder.description().passages == 0) {
    throw_input_error({sources.files.front().name + (sources.files.size() > 1 ? " and the others" : ""),
                       "at least one document with a word in it", "none"});
  }
  write_description(database, builder.description());
  database.execute(kMergeAll);
  database.execute("COMMIT");
  return builder.description();
}

}  // namespace

BuildResult build_index(const std::vector<std::filesystem::path>& documents, const std::filesystem::path& out,
                        const BuildOptions& options) {
  check(options.passages);
  check_target(out, options.replace);
  if (documents.empty()) throw_usage_error({"documents", "at least one file or folder", "none"});
  const SourceList sources = list_sources(documents);
  PartialFile file(out);
  const Description description = write_index(sources, file, options, out.string());
  file.commit();
  return {description, sources.passed_over};
}

}  // namespace buoy::retrieve
