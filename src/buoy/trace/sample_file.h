#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "buoy/base/error.h"
#include "buoy/base/file/placed_file.h"
#include "buoy/tensor/thread_pool.h"
#include "buoy/trace/manifest.h"
#include "buoy/trace/sample.h"
#include "buoy/trace/written_pieces.h"

namespace buoy::trace {

// Finite values that F16 cannot hold: the sample must be written again, or run again, with these arrays as
// F32 (SamplePlan::keep_f32).
class ExceedsF16 : public Error {
 public:
  ExceedsF16(const std::string& where, std::set<std::string> arrays);
  const std::set<std::string>& arrays() const { return arrays_; }

 private:
  std::set<std::string> arrays_;
};

// Where a sample goes, and what the trace says of all its samples.
struct SamplePlace {
  std::filesystem::path folder;  // of the trace
  Storage storage = Storage::kF32;
  const ModelCard* model = nullptr;  // null: not known, and not compared
  Level level = Level::kFull;
};

// The file of one sample, written while its values come, cell by cell, and never held in memory. Its bytes
// are those of format_sample, whatever the order and the threads. Without finish() nothing is left behind.
// IoErrors name the file; UsageErrors the sample and the array.
class SampleFile {
 public:
  // Throws UsageError when no sample can be what the plan says. The room on the disk is taken while it is
  // written.
  SampleFile(const SamplePlace& place, SamplePlan plan);

  // One cell of an array; several threads may put different cells at once. Each cell comes once. float for
  // F32, int32_t for I32, uint8_t for U8.
  void put(std::string_view array, std::int64_t cell, std::span<const float> values);
  void put(std::string_view array, std::int64_t cell, std::span<const std::int32_t> values);
  void put(std::string_view array, std::int64_t cell, std::span<const std::uint8_t> values);

  // Adds arrays of bytes to the plan, whole: those whose size is known only when the sample is over. They
  // come behind all others. No other thread uses the file. Throws UsageError for other types.
  void append(std::span<const Array> arrays);

  // Arrays stored as F16 that were given finite values past its largest so far: finish() will refuse.
  std::set<std::string> exceeding_f16() const;

  // Puts whole the arrays of the plan that no cell was put of, adds texts to those of the plan (a later text
  // replaces an earlier one), checks the sample, makes its sum on the threads given (null: on this one), and
  // gives the file its name. All other threads are done with it. Throws UsageError when a cell is missing or
  // the sample is not what sample_rules.h asks for, ExceedsF16.
  SampleEntry finish(const std::map<std::string, std::string>& texts, std::span<const Array> arrays,
                     ThreadPool* threads = nullptr);

 private:
  struct Column {
    explicit Column(const PlacedArray& array);

    PlacedArray place;
    std::int64_t elements;                         // of a cell
    std::vector<std::atomic<std::uint8_t>> begun;  // by cell
    std::vector<std::once_flag> roomy;             // by stretch of kStretch bytes: its room was taken
    std::atomic<std::int64_t> done{0};             // cells
    std::atomic<bool> exceeds{false};
  };

  [[noreturn]] void refuse(std::string_view array, const std::string& expected,
                           const std::string& found) const;
  Column& find(std::string_view array, DataType dtype);
  void begin_cell(Column& column, std::int64_t cell, size_t values) const;
  template <typename T>
  void put_as(std::string_view array, DataType dtype, std::int64_t cell, std::span<const T> values);
  void put_whole(const Array& array);
  void open();
  void take_room(Column& column, std::uint64_t offset, std::uint64_t bytes);
  void write_floats(Column& column, std::uint64_t offset, std::span<const float> values);
  void write(Column& column, std::uint64_t offset, std::span<const std::byte> bytes);  // behind the header
  void require_every_cell() const;
  void check(std::span<const std::byte> data) const;  // empty: before there are values
  void move_data(std::uint64_t begin);

  SamplePlan plan_;
  std::optional<ModelCard> model_;
  Storage storage_;
  Level level_;
  std::vector<PlacedArray> placed_;
  std::map<std::string, Column, std::less<>> columns_;
  std::uint64_t data_begin_, data_bytes_;
  PlacedFile file_;
  std::once_flag opened_;
  std::unique_ptr<WrittenPieces> pieces_;
  bool finished_ = false;
};

}  // namespace buoy::trace
