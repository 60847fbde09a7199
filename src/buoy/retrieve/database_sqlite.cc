#include <sqlite3.h>

#include <cerrno>
#include <new>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/retrieve/database.h"

namespace buoy::retrieve {

void Statement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

void Database::Close::operator()(sqlite3* database) const {
  sqlite3_close_v2(database);
}

Database::Database(const std::filesystem::path& path, Mode mode, std::string name)
    : mode_(mode), name_(std::move(name)) {
  const int flags = mode == Mode::kRead ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
  sqlite3* opened = nullptr;
  const int result = sqlite3_open_v2(path.c_str(), &opened, flags | SQLITE_OPEN_FULLMUTEX, nullptr);
  database_.reset(opened);
  if (opened == nullptr) throw std::bad_alloc();
  check(result);
  // A file from elsewhere is not to run code of its own making.
  check(sqlite3_db_config(opened, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr));
}

void Database::check(int result) const {
  if (result != SQLITE_OK) fail(result);
}

void Database::fail(int result) const {
  const std::string message = sqlite3_errmsg(database_.get());
  switch (result & 0xFF) {
    case SQLITE_NOMEM:
      throw std::bad_alloc();
    case SQLITE_NOTADB:
      throw_input_error({name_, "a Buoy index, which is an SQLite database", "a file of another kind"});
    case SQLITE_CORRUPT:
      throw_input_error({name_, "an undamaged index", message});
    case SQLITE_FULL:
      throw_io_error("write", name_, ENOSPC);
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_BUSY: {
      const int reason = sqlite3_system_errno(database_.get());
      if (reason != 0) throw_io_error(mode_ == Mode::kRead ? "read" : "write", name_, reason);
      throw IoError(name_ + ": " + message);
    }
    default:
      if (mode_ == Mode::kRead) throw_input_error({name_, "the tables of a Buoy index", message});
      throw InternalError(name_ + ": " + message);
  }
}

void Database::execute(const std::string& sql) {
  check(sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr));
}

Statement Database::prepare(const std::string& sql) const {
  sqlite3_stmt* statement = nullptr;
  check(sqlite3_prepare_v2(database_.get(), sql.c_str(), static_cast<int>(sql.size()) + 1, &statement,
                           nullptr));
  return {*this, statement};
}

std::int64_t Database::integer(const std::string& sql) const {
  Statement statement = prepare(sql);
  return statement.step() ? statement.integer(0) : 0;
}

void Statement::bind(int parameter, std::string_view text) {
  // The text must stay where it is until the statement has run.
  database_->check(sqlite3_bind_text64(statement_.get(), parameter, text.data() != nullptr ? text.data() : "",
                                       text.size(), SQLITE_STATIC, SQLITE_UTF8));
}

void Statement::bind(int parameter, std::int64_t number) {
  database_->check(sqlite3_bind_int64(statement_.get(), parameter, number));
}

void Statement::bind(int parameter, double number) {
  database_->check(sqlite3_bind_double(statement_.get(), parameter, number));
}

bool Statement::step() {
  const int result = sqlite3_step(statement_.get());
  if (result == SQLITE_ROW) return true;
  if (result != SQLITE_DONE) database_->fail(result);
  return false;
}

void Statement::run() {
  while (step()) {
  }
  database_->check(sqlite3_reset(statement_.get()));
}

std::string Statement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
  return bytes == nullptr ? "" : std::string(bytes, size);
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

double Statement::number(int column) const {
  return sqlite3_column_double(statement_.get(), column);
}

}  // namespace buoy::retrieve
