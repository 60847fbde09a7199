#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace buoy::retrieve {

// One SQL statement of a database, which must outlive it. Parameters count from 1, columns from 0.
class Statement {
 public:
  void bind(int parameter, std::string_view text);
  void bind(int parameter, std::int64_t number);
  void bind(int parameter, double number);
  bool step();  // whether there is a row
  void run();   // to the end, then ready to be bound anew

  std::string text(int column) const;
  std::int64_t integer(int column) const;
  double number(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  Statement(const class Database& database, sqlite3_stmt* statement)
      : database_(&database), statement_(statement) {}

  const Database* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

// An open SQLite file. What goes wrong becomes IoError (the machine), InputError (the file) or, while
// writing, InternalError; the message names the file.
class Database {
 public:
  enum class Mode { kRead, kWrite };

  // `name` is the file named in errors.
  Database(const std::filesystem::path& path, Mode mode, std::string name);

  void execute(const std::string& sql);
  Statement prepare(const std::string& sql) const;
  std::int64_t integer(const std::string& sql) const;  // of the first row

 private:
  friend class Statement;
  struct Close {
    void operator()(sqlite3* database) const;
  };
  void check(int result) const;
  [[noreturn]] void fail(int result) const;

  Mode mode_;
  std::string name_;
  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace buoy::retrieve
