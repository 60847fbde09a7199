#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "buoy/tensor/context.h"

namespace buoy::model {

// `pieces` stretches of `count` numbers, `stride` apart, become an array of `total`, or a part of it from
// `at` on. From nowhere come zeros.
template <typename T>
struct Gather {
  std::vector<T>* to;
  const T* from;
  std::int64_t pieces, stride, count, total, at = 0;

  // Of several arrays like that one their sums: `from` is the first, and each is also copied for itself.
  struct Term {
    std::int64_t from, to;  // beyond `from`, and in `copies`
  };
  std::vector<Term> terms = {};
  std::vector<T>* copies = nullptr;  // has room

  bool in_one_piece() const { return stride == count || pieces == 1; }
  std::int64_t numbers() const {
    return pieces * count * std::max<std::int64_t>(1, static_cast<std::int64_t>(terms.size()));
  }

  void make_room() const {
    if (at == 0) to->resize(static_cast<size_t>(total));
  }
  // Numbers from `first` of the source on, to `offset` of the part.
  void copy(std::int64_t first, std::int64_t offset, std::int64_t numbers) const {
    T* out = to->data() + at + offset;
    if (from == nullptr) {
      std::fill_n(out, numbers, T{});
    } else if (copies == nullptr) {
      std::copy_n(from + first, numbers, out);
    } else {
      for (size_t n = 0; n < terms.size(); ++n) {
        const T* in = from + first + terms[n].from;
        T* copied = copies->data() + terms[n].to + offset;
        for (std::int64_t i = 0; i < numbers; ++i) {
          const T number = in[i];
          copied[i] = number;
          out[i] = n == 0 ? number : out[i] + number;
        }
      }
    }
  }
  void run() const {
    if (from != nullptr && copies == nullptr && in_one_piece() && total == pieces * count) {
      to->assign(from, from + total);  // no zeros first
      return;
    }
    make_room();
    for (std::int64_t i = 0; i < pieces; ++i) copy(i * stride, i * count, count);
  }
};

// All of them; with a context all its threads copy.
void gather_all(const std::vector<Gather<float>>& gathers, const Context* context);

}  // namespace buoy::model
