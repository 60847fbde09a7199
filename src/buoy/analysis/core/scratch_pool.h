#pragma once

#include <memory>
#include <mutex>
#include <vector>

namespace buoy::analysis {

// Work space that threads take and give back, as many as work at once.
template <typename T>
class ScratchPool {
 public:
  class Loan {
   public:
    Loan(ScratchPool& pool, std::unique_ptr<T> lent) : pool_(pool), lent_(std::move(lent)) {}
    ~Loan() {
      const std::lock_guard lock(pool_.mutex_);
      pool_.free_.push_back(std::move(lent_));
    }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    T& operator*() const { return *lent_; }
    T* operator->() const { return lent_.get(); }

   private:
    ScratchPool& pool_;
    std::unique_ptr<T> lent_;
  };

  Loan take() {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        auto lent = std::move(free_.back());
        free_.pop_back();
        return Loan(*this, std::move(lent));
      }
    }
    return Loan(*this, std::make_unique<T>());
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> free_;
};

}  // namespace buoy::analysis
