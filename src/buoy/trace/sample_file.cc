#include "buoy/trace/sample_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "buoy/base/file/mapped_file.h"
#include "buoy/base/float16.h"
#include "buoy/tensor/float16_spans.h"
#include "buoy/trace/sample_rules.h"

namespace buoy::trace {
namespace {

constexpr std::uint64_t kStretch = std::uint64_t{4} << 20;  // whose room is taken at once

bool is_aligned(std::span<const std::byte> bytes) {
  return !bytes.empty() && reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(std::uint16_t) == 0;
}

}  // namespace

ExceedsF16::ExceedsF16(const std::string& where, std::set<std::string> arrays)
    : Error(describe({fmt::format("{}: {}", where, fmt::join(arrays, ", ")),
                      fmt::format("finite values of at most {}, to store them as F16", kLargestF16),
                      "larger ones"})),
      arrays_(std::move(arrays)) {}

SampleFile::Column::Column(const PlacedArray& array)
    : place(array),
      elements(element_count(array.plan.name, array.plan.shape) / array.plan.cells),
      begun(static_cast<size_t>(array.plan.cells)),
      roomy(array.bytes / kStretch + 1) {}

SampleFile::SampleFile(const SamplePlace& place, SamplePlan plan)
    : plan_(std::move(plan)),
      model_(place.model == nullptr ? std::nullopt : std::optional(*place.model)),
      storage_(place.storage),
      level_(place.level),
      placed_(place_arrays(plan_.arrays, place.storage, plan_.keep_f32)),
      data_begin_(0),
      data_bytes_(data_bytes(placed_)),
      file_(place.folder / sample_file(plan_.id)) {
  refuse_own_texts(plan_.id, plan_.texts);
  check({});
  for (const PlacedArray& array : placed_) columns_.try_emplace(array.plan.name, array);
  data_begin_ = format_sample_header(plan_.id, placed_, plan_.texts, level_).size();
  pieces_ = std::make_unique<WrittenPieces>(file_, data_begin_ + data_bytes_);
}

void SampleFile::open() {
  std::call_once(opened_, [this] { file_.resize(data_begin_ + data_bytes_); });
}

// Gigabytes take a while: the first who writes to a stretch takes its room, and the others go on.
void SampleFile::take_room(Column& column, std::uint64_t offset, std::uint64_t bytes) {
  open();
  const std::uint64_t begin = offset - column.place.offset, end = begin + bytes;
  for (std::uint64_t stretch = begin / kStretch; stretch * kStretch < end; ++stretch) {
    std::call_once(column.roomy[stretch], [&] {
      const std::uint64_t first = stretch * kStretch, count = std::min(kStretch, column.place.bytes - first);
      file_.take_room(data_begin_ + column.place.offset + first, count);
    });
  }
}

void SampleFile::refuse(std::string_view array, const std::string& expected, const std::string& found) const {
  throw_usage_error({fmt::format("sample {}: {}", plan_.id, array), expected, found});
}

void SampleFile::check(std::span<const std::byte> data) const {
  SampleView view{{}, plan_.texts};
  for (const PlacedArray& array : placed_) {
    view.arrays.push_back({array.plan.name, name_of(array.stored), array.plan.shape,
                           data.empty() ? data : data.subspan(array.offset, array.bytes)});
  }
  check_sample(view, {.where = fmt::format("sample {}", plan_.id),
                      .fail = throw_usage_error,
                      .refuse_unknown = true,
                      .model = model_ ? &*model_ : nullptr});
}

SampleFile::Column& SampleFile::find(std::string_view array, DataType dtype) {
  BUOY_CHECK(!finished_);
  const auto found = columns_.find(array);
  if (found == columns_.end()) refuse(array, "an array of the plan", "another name");
  if (const DataType planned = found->second.place.plan.dtype; planned != dtype) {
    refuse(array, fmt::format("{} as planned", name_of(planned)), std::string(name_of(dtype)));
  }
  return found->second;
}

void SampleFile::begin_cell(Column& column, std::int64_t cell, size_t values) const {
  const PlannedArray& plan = column.place.plan;
  if (cell < 0 || cell >= plan.cells) {
    refuse(plan.name, fmt::format("a cell from 0 to {}", plan.cells - 1), fmt::format("cell {}", cell));
  }
  if (static_cast<std::int64_t>(values) != column.elements) {
    refuse(plan.name, fmt::format("{} values in a cell", column.elements), fmt::format("{}", values));
  }
  if (column.begun[static_cast<size_t>(cell)].exchange(1) != 0) {
    refuse(plan.name, "each cell once", fmt::format("cell {} again", cell));
  }
}

template <typename T>
void SampleFile::put_as(std::string_view array, DataType dtype, std::int64_t cell,
                        std::span<const T> values) {
  Column& column = find(array, dtype);
  begin_cell(column, cell, values.size());
  const auto first = static_cast<std::uint64_t>(cell) * values.size();
  const std::uint64_t offset = column.place.offset + first * size_of(column.place.stored);
  if constexpr (std::is_same_v<T, float>) {
    write_floats(column, offset, values);
  } else {
    write(column, offset, std::as_bytes(values));
  }
  ++column.done;
}

void SampleFile::put(std::string_view array, std::int64_t cell, std::span<const float> values) {
  put_as(array, DataType::kF32, cell, values);
}

void SampleFile::put(std::string_view array, std::int64_t cell, std::span<const std::int32_t> values) {
  put_as(array, DataType::kI32, cell, values);
}

void SampleFile::put(std::string_view array, std::int64_t cell, std::span<const std::uint8_t> values) {
  put_as(array, DataType::kU8, cell, values);
}

void SampleFile::put_whole(const Array& array) {
  Column& column = find(array.name, array.dtype);
  if (array.bytes.size() % size_of(array.dtype) != 0 || array.shape != column.place.plan.shape) {
    refuse(array.name, "shape " + describe_shape(column.place.plan.shape),
           fmt::format("shape {} in {} bytes", describe_shape(array.shape), array.bytes.size()));
  }
  const size_t values = array.bytes.size() / size_of(array.dtype);
  const auto cells = static_cast<size_t>(column.place.plan.cells);
  for (size_t cell = 0; cell < cells; ++cell) {
    begin_cell(column, static_cast<std::int64_t>(cell), values / cells);
  }
  if (array.dtype == DataType::kF32) {
    write_floats(column, column.place.offset, floats_of(array));
  } else {
    write(column, column.place.offset, array.bytes);
  }
  column.done = column.place.plan.cells;
}

// U8 is the smallest element, so what is there stays where it is.
void SampleFile::append(std::span<const Array> arrays) {
  open();
  for (const Array& bytes : arrays) {
    if (bytes.dtype != DataType::kU8) refuse(bytes.name, "U8 to append", std::string(name_of(bytes.dtype)));
    plan_.arrays.push_back({bytes.name, bytes.dtype, bytes.shape, 1});
  }
  const size_t before = placed_.size();
  placed_ = place_arrays(plan_.arrays, storage_, plan_.keep_f32);
  check({});
  for (size_t i = before; i < placed_.size(); ++i) columns_.try_emplace(placed_[i].plan.name, placed_[i]);
  data_bytes_ = data_bytes(placed_);
  file_.resize(data_begin_ + data_bytes_);
  pieces_ = std::make_unique<WrittenPieces>(*pieces_, data_begin_ + data_bytes_);
  for (const Array& bytes : arrays) put_whole(bytes);
}

void SampleFile::write_floats(Column& column, std::uint64_t offset, std::span<const float> values) {
  if (column.place.stored == DataType::kF32) return write(column, offset, std::as_bytes(values));
  const std::uint64_t bytes = values.size() * sizeof(std::uint16_t);
  take_room(column, offset, bytes);
  if (const auto to = file_.mapped(data_begin_ + offset, bytes); is_aligned(to)) {
    if (floats_to_f16(values, {reinterpret_cast<std::uint16_t*>(to.data()), values.size()}))
      column.exceeds = true;
    pieces_->wrote(data_begin_ + offset, bytes);
    return;
  }
  std::array<std::uint16_t, size_t{1} << 15> halves;
  while (!values.empty()) {
    const auto part = std::span(halves).first(std::min(halves.size(), values.size()));
    if (floats_to_f16(values.first(part.size()), part)) column.exceeds = true;
    write(column, offset, std::as_bytes(part));
    offset += part.size_bytes();
    values = values.subspan(part.size());
  }
}

void SampleFile::write(Column& column, std::uint64_t offset, std::span<const std::byte> bytes) {
  take_room(column, offset, bytes.size());
  file_.write_at(data_begin_ + offset, bytes);
  pieces_->wrote(data_begin_ + offset, bytes.size());
}

std::set<std::string> SampleFile::exceeding_f16() const {
  std::set<std::string> names;
  for (const auto& [name, column] : columns_) {
    if (column.exceeds) names.insert(name);
  }
  return names;
}

void SampleFile::require_every_cell() const {
  for (const auto& [name, column] : columns_) {
    if (column.done == column.place.plan.cells) continue;
    refuse(name, fmt::format("all {} cells", column.place.plan.cells), fmt::format("{}", column.done.load()));
  }
}

// In place, beginning at the end that is not overwritten.
void SampleFile::move_data(std::uint64_t begin) {
  const std::uint64_t old = std::exchange(data_begin_, begin);
  std::vector<std::byte> buffer(std::min<std::uint64_t>(std::uint64_t{1} << 20, data_bytes_));
  if (begin > old) file_.resize(begin + data_bytes_);
  file_.take_room(0, begin + data_bytes_);
  for (std::uint64_t moved = 0; moved < data_bytes_;) {
    const auto part = std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), data_bytes_ - moved));
    const std::uint64_t at = begin > old ? data_bytes_ - moved - part.size() : moved;
    file_.read_at(old + at, part);
    file_.write_at(begin + at, part);
    moved += part.size();
  }
  if (begin < old) file_.resize(begin + data_bytes_);
  pieces_ = std::make_unique<WrittenPieces>(file_, begin + data_bytes_);
}

SampleEntry SampleFile::finish(const std::map<std::string, std::string>& texts, std::span<const Array> arrays,
                               ThreadPool* threads) {
  refuse_own_texts(plan_.id, texts);
  for (const auto& [key, text] : texts) plan_.texts[key] = text;
  open();
  for (const Array& array : arrays) put_whole(array);
  require_every_cell();
  finished_ = true;
  if (auto exceeding = exceeding_f16(); !exceeding.empty())
    throw ExceedsF16("sample " + plan_.id, std::move(exceeding));

  const std::string header = format_sample_header(plan_.id, placed_, plan_.texts, level_);
  if (header.size() != data_begin_) move_data(header.size());
  file_.take_room(0, header.size());
  file_.write_at(0, std::as_bytes(std::span(header)));
  check(MappedFile(file_.partial()).bytes().subspan(header.size()));

  SampleEntry entry;
  entry.id = plan_.id;
  entry.file = sample_file(plan_.id).generic_string();
  entry.bytes = data_begin_ + data_bytes_;
  entry.tree_sha256 = pieces_->finish(threads);
  file_.commit();
  return entry;
}

}  // namespace buoy::trace
