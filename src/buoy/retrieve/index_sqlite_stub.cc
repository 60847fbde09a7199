#include "buoy/base/error.h"
#include "buoy/retrieve/build_index.h"
#include "buoy/retrieve/index.h"

namespace buoy::retrieve {
namespace {

[[noreturn]] void refuse() {
  throw_usage_error(
      {"retrieval", "a build with SQLite: install libsqlite3-dev and configure again", "a build without"});
}

}  // namespace

class Index::Impl {};

bool can_index() {
  return false;
}

Index Index::open(const std::filesystem::path&) {
  refuse();
}

Index::~Index() = default;
Index::Index(Index&&) noexcept = default;
Index& Index::operator=(Index&&) noexcept = default;

std::vector<Hit> Index::search(std::string_view, std::size_t, const SearchOptions&) const {
  refuse();
}

const Description& Index::description() const {
  refuse();
}

std::string Index::identity() const {
  refuse();
}

BuildResult build_index(const std::vector<std::filesystem::path>&, const std::filesystem::path&,
                        const BuildOptions&) {
  refuse();
}

}  // namespace buoy::retrieve
