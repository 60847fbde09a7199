#include <cublasLt.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string>

#include "buoy/ops/linear/linear_cuda.h"
#include "buoy/ops/linear/linear_few_rows_cuda.cuh"
#include "buoy/ops/linear/linear_hopper_cuda.cuh"
#include "buoy/ops/pointwise/elementwise_cuda.h"
#include "buoy/ops/pointwise/rope_cuda.h"
#include "buoy/tensor/cuda_check.cuh"
#include "buoy/tensor/device_memory.h"

namespace buoy::ops {
namespace {

constexpr std::size_t kWorkspaceBytes = std::size_t{64} << 20;

// A plain array: nvcc 13.0's front end fails on a vector of these.
struct Proposals {
  std::array<cublasLtMatmulHeuristicResult_t, 16> results;
  int count = 0;
};

void check(cublasStatus_t status, const char* action) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw IoError(std::string("GPU: cuBLASLt cannot ") + action + ": " + cublasLtGetStatusString(status));
}

// [columns, rows] in the library's column-major eyes is our row-major [rows, columns].
class Layout {
 public:
  Layout(cudaDataType type, std::int64_t rows, std::int64_t columns) {
    check(cublasLtMatrixLayoutCreate(&layout_, type, columns, rows, columns), "describe a matrix");
  }
  ~Layout() { cublasLtMatrixLayoutDestroy(layout_); }
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;
  cublasLtMatrixLayout_t get() const { return layout_; }

 private:
  cublasLtMatrixLayout_t layout_ = nullptr;
};

// output^T = weight input^T: the weight is the transposed left factor.
struct Plan {
  explicit Plan(const DeviceLinearArgs& args)
      : weight(CUDA_R_16BF, args.outputs, args.inputs),
        input(CUDA_R_16BF, args.rows, args.inputs),
        output(args.kind == LinearOutput::kBf16 ? CUDA_R_16BF : CUDA_R_32F, args.rows, args.outputs) {
    check(cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F), "describe a product");
    const cublasOperation_t transposed = CUBLAS_OP_T;
    check(
        cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed),
        "describe a product");
  }
  ~Plan() { cublasLtMatmulDescDestroy(product); }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  cublasLtMatmulDesc_t product = nullptr;
  Layout weight, input, output;
  cublasLtMatmulAlgo_t algorithm = {};
};

}  // namespace

struct DeviceLinear::Library {
  using Shape = std::array<std::int64_t, 4>;  // rows, inputs, outputs, kind

  explicit Library(int candidates) : timed_candidates(candidates), workspace(kWorkspaceBytes) {
    check(cublasLtCreate(&handle), "start");
  }
  ~Library() { cublasLtDestroy(handle); }

  bool own_kernel(const DeviceLinearArgs& args) const {
    if (choice == LinearChoice::kLibrary || choice == LinearChoice::kFewRows) return false;
    return hopper_can_multiply(args) && (choice == LinearChoice::kOwn || hopper_multiplies_faster(args));
  }
  bool few_rows(const DeviceLinearArgs& args) const {
    return (choice == LinearChoice::kByShape || choice == LinearChoice::kFewRows) &&
           few_rows_can_multiply(args);
  }
  const Plan& plan(const Stream& stream, const DeviceLinearArgs& args);
  Proposals proposals(const Plan& plan, const DeviceLinearArgs& args) const;
  cublasLtMatmulAlgo_t fastest(const Stream& stream, const Plan& plan, const DeviceLinearArgs& args,
                               const Proposals& found);
  cublasStatus_t run(const Stream& stream, const Plan& plan, const cublasLtMatmulAlgo_t& algorithm,
                     const DeviceLinearArgs& args, void* output) const;

  LinearChoice choice = LinearChoice::kByShape;
  int timed_candidates;
  cublasLtHandle_t handle = nullptr;
  DeviceMemory workspace;
  std::map<Shape, std::unique_ptr<Plan>> plans;
};

Proposals DeviceLinear::Library::proposals(const Plan& plan, const DeviceLinearArgs& args) const {
  cublasLtMatmulPreference_t preference = nullptr;
  check(cublasLtMatmulPreferenceCreate(&preference), "state a preference");
  const std::size_t smem = kWorkspaceBytes;
  cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &smem,
                                       sizeof smem);
  Proposals found;
  const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
      handle, plan.product, plan.weight.get(), plan.input.get(), plan.output.get(), plan.output.get(),
      preference, std::clamp(timed_candidates, 1, 16), found.results.data(), &found.count);
  cublasLtMatmulPreferenceDestroy(preference);
  if (status != CUBLAS_STATUS_SUCCESS || found.count == 0) {
    throw IoError("GPU: cuBLASLt knows no way to multiply " + std::to_string(args.rows) + " rows of " +
                  std::to_string(args.inputs) + " by " + std::to_string(args.outputs) +
                  " columns: " + cublasLtGetStatusString(status));
  }
  return found;
}

cublasLtMatmulAlgo_t DeviceLinear::Library::fastest(const Stream& stream, const Plan& plan,
                                                    const DeviceLinearArgs& args, const Proposals& found) {
  constexpr int kRepetitions = 4;
  DeviceMemory elsewhere(static_cast<std::size_t>(args.rows * args.outputs) * sizeof(float));
  fill_bytes(stream, elsewhere.data(), 0, elsewhere.bytes());
  Event begin, end;
  double best_time = std::numeric_limits<double>::infinity();
  cublasLtMatmulAlgo_t best = found.results[0].algo;
  for (int n = 0; n < found.count; ++n) {
    const auto& candidate = found.results[static_cast<std::size_t>(n)];
    if (run(stream, plan, candidate.algo, args, elsewhere.data()) != CUBLAS_STATUS_SUCCESS) continue;
    begin.record(stream);
    for (int i = 0; i < kRepetitions; ++i) run(stream, plan, candidate.algo, args, elsewhere.data());
    end.record(stream);
    end.synchronize();
    const double time = end.milliseconds_since(begin);
    if (time < best_time) {
      best_time = time;
      best = candidate.algo;
    }
  }
  return best;
}

const Plan& DeviceLinear::Library::plan(const Stream& stream, const DeviceLinearArgs& args) {
  const Shape shape = {args.rows, args.inputs, args.outputs, static_cast<std::int64_t>(args.kind)};
  auto& slot = plans[shape];
  if (slot == nullptr) {
    auto fresh = std::make_unique<Plan>(args);
    const auto found = proposals(*fresh, args);
    fresh->algorithm = found.count > 1 ? fastest(stream, *fresh, args, found) : found.results[0].algo;
    slot = std::move(fresh);
  }
  return *slot;
}

cublasStatus_t DeviceLinear::Library::run(const Stream& stream, const Plan& plan,
                                          const cublasLtMatmulAlgo_t& algorithm, const DeviceLinearArgs& args,
                                          void* output) const {
  const float one = 1, keep = args.kind == LinearOutput::kAddFloat ? 1 : 0;
  return cublasLtMatmul(handle, plan.product, &one, args.weight, plan.weight.get(), args.input,
                        plan.input.get(), &keep, output, plan.output.get(), output, plan.output.get(),
                        &algorithm, workspace.data(), workspace.bytes(),
                        static_cast<cudaStream_t>(stream.handle()));
}

DeviceLinear::DeviceLinear(int timed_candidates) : library_(std::make_unique<Library>(timed_candidates)) {}
DeviceLinear::~DeviceLinear() = default;
DeviceLinear::DeviceLinear(DeviceLinear&&) noexcept = default;
DeviceLinear& DeviceLinear::operator=(DeviceLinear&&) noexcept = default;

void DeviceLinear::choose(LinearChoice choice) {
  library_->choice = choice;
}

bool DeviceLinear::finishes_qkv(const DeviceLinearArgs& args) const {
  return args.kind == LinearOutput::kQkv && library_->own_kernel(args);
}

bool DeviceLinear::finds_best(std::int64_t rows, std::int64_t inputs, std::int64_t outputs) const {
  return library_->own_kernel(
      {.rows = rows, .inputs = inputs, .outputs = outputs, .kind = LinearOutput::kBest});
}

std::int64_t DeviceLinear::scratch_rows(std::int64_t rows, std::int64_t inputs, std::int64_t outputs) {
  DeviceLinearArgs args{.rows = rows, .inputs = inputs, .outputs = outputs, .kind = LinearOutput::kSwiglu};
  if (!hopper_can_multiply(args)) return rows;
  while (args.rows > 0 && hopper_multiplies_faster(args)) --args.rows;
  return args.rows;
}

void DeviceLinear::multiply(const Stream& stream, const DeviceLinearArgs& args) {
  if (args.rows == 0) return;
  if (library_->few_rows(args)) return multiply_few_rows(stream, args);
  if (library_->own_kernel(args)) return multiply_hopper(stream, args);
  BUOY_CHECK(args.kind != LinearOutput::kBest);
  DeviceLinearArgs product = args;
  if (args.kind == LinearOutput::kSwiglu) {
    BUOY_CHECK(args.scratch != nullptr);
    product.output = args.scratch;
    product.kind = LinearOutput::kBf16;
    multiply(stream, product);
    swiglu_cuda(stream,
                {args.scratch, args.rows, args.outputs / 2, static_cast<std::uint16_t*>(args.output)});
  } else if (args.kind == LinearOutput::kQkv) {
    BUOY_CHECK(args.qkv->states.queries == args.output && args.qkv->states.query_stride == args.outputs);
    product.kind = LinearOutput::kBf16;
    multiply(stream, product);
    finish_qkv_cuda(stream, *args.qkv);
  } else {
    const Plan& plan = library_->plan(stream, args);
    check(library_->run(stream, plan, plan.algorithm, args, args.output), "multiply");
  }
}

}  // namespace buoy::ops
