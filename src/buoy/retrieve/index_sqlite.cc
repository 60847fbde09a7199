#include <cerrno>
#include <cmath>
#include <string>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/retrieve/database.h"
#include "buoy/retrieve/index.h"
#include "buoy/retrieve/index_tables.h"
#include "buoy/retrieve/query.h"

namespace buoy::retrieve {
namespace {

// Sorted by score before the texts are fetched, so that only those of the best leave the disk.
constexpr const char* kSearch =
    "SELECT document, number, title, text, score FROM "
    "(SELECT rowid AS found, bm25(passage, ?, ?) AS score FROM passage WHERE passage MATCH ? "
    " ORDER BY score, rowid LIMIT ?) "
    "JOIN passage ON passage.rowid = found ORDER BY score, found";

void check(const SearchOptions& options) {
  for (const double weight : {options.title_weight, options.text_weight}) {
    if (!std::isfinite(weight) || weight < 0)
      throw_usage_error({"search weight", "a number from 0", std::to_string(weight)});
  }
}

const std::filesystem::path& readable_file(const std::filesystem::path& path) {
  if (!path_exists(path)) throw_cannot_open(path.string(), ENOENT);
  if (is_folder(path)) throw_io_error("open", path.string(), EISDIR);
  if (std::filesystem::file_size(path) == 0)
    throw_input_error({path.string(), "a Buoy index", "an empty file"});
  return path;
}

}  // namespace

class Index::Impl {
 public:
  explicit Impl(const std::filesystem::path& path)
      : database_(readable_file(path), Database::Mode::kRead, path.string()) {
    check_version(database_, path.string());
    description_ = read_description(database_, path.string());
    database_.prepare(kSearch);
  }

  std::vector<Hit> search(const std::string& expression, std::int64_t top,
                          const SearchOptions& options) const {
    Statement statement = database_.prepare(kSearch);
    statement.bind(1, options.title_weight);
    statement.bind(2, options.text_weight);
    statement.bind(3, expression);
    statement.bind(4, top);
    std::vector<Hit> hits;
    while (statement.step()) {
      hits.push_back({statement.text(0), statement.integer(1), statement.text(2), statement.text(3),
                      -statement.number(4)});  // FTS5 counts downwards
    }
    return hits;
  }

  const Description& description() const { return description_; }

 private:
  Database database_;
  Description description_;
};

bool can_index() {
  return true;
}

Index Index::open(const std::filesystem::path& path) {
  return Index(std::make_unique<Impl>(path));
}

Index::Index(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Index::~Index() = default;
Index::Index(Index&&) noexcept = default;
Index& Index::operator=(Index&&) noexcept = default;

std::vector<Hit> Index::search(std::string_view question, std::size_t top,
                               const SearchOptions& options) const {
  check(options);
  const std::string expression = match_expression(question);
  if (expression.empty() || top == 0) return {};
  // Never more than there are, and so never more than SQLite can count.
  const auto most =
      std::min(static_cast<std::uint64_t>(top), static_cast<std::uint64_t>(description().passages));
  return impl_->search(expression, static_cast<std::int64_t>(most), options);
}

const Description& Index::description() const {
  return impl_->description();
}

std::string Index::identity() const {
  return identity_of(description());
}

}  // namespace buoy::retrieve
