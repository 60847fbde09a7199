// Hopper's tensor memory accelerator (TMA: bulk copies between global and shared memory), the mbarriers its
// transactions complete on, thread block clusters, and setmaxnreg. Tiles in shared memory are panels with
// rows of 128 bytes in the 128-byte swizzle that TMA and WGMMA share (the 16-byte pieces of eight rows are
// permuted), so a panel starts at a multiple of 1024 bytes.

#pragma once

#include <cuda.h>

#include <cstdint>

#include "buoy/ops/attention/attention_mma_cuda.cuh"

namespace buoy::ops {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define BUOY_HAS_WGMMA 1
#endif

// ---- mbarriers (in shared memory): a phase ends when `count` arrivals and all expected transaction bytes
// have come

__device__ inline void mbarrier_init(std::uint64_t* barrier, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\n" ::"r"(shared_address(barrier)), "r"(count));
}
__device__ inline void mbarrier_init_fence() {
  asm volatile("fence.mbarrier_init.release.cluster;\n" ::: "memory");
}
__device__ inline void mbarrier_arrive(std::uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];\n" ::"r"(shared_address(barrier)) : "memory");
}
// One arrival for a warp, when all its lanes have read what the barrier guards.
__device__ inline void mbarrier_arrive_per_warp(std::uint64_t* barrier) {
  __syncwarp();
  if (threadIdx.x % 32 == 0) mbarrier_arrive(barrier);
}
__device__ inline void mbarrier_arrive_expect_tx(std::uint64_t* barrier, std::uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n" ::"r"(shared_address(barrier)),
               "r"(bytes)
               : "memory");
}
// An arrival of this thread as soon as all copies that it has begun (cp.async) are there; it does not wait.
__device__ inline void mbarrier_arrive_when_copied(std::uint64_t* barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];\n" ::"r"(shared_address(barrier))
               : "memory");
}
__device__ inline void mbarrier_wait(std::uint64_t* barrier, std::uint32_t phase) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}\n" ::"r"(shared_address(barrier)),
      "r"(phase)
      : "memory");
}

// Named barriers of whole warps, by number (bar.sync, bar.arrive).
__device__ inline void named_barrier_sync(int number, int threads) {
  asm volatile("bar.sync %0, %1;\n" ::"r"(number), "r"(threads) : "memory");
}
__device__ inline void named_barrier_arrive(int number, int threads) {
  asm volatile("bar.arrive %0, %1;\n" ::"r"(number), "r"(threads) : "memory");
}

// ---- TMA loads, issued by one thread

// Columns x.. of head y, rows z.. of a tensor [row][head][column].
__device__ inline void tma_load(void* shared, const CUtensorMap* map, std::uint64_t* barrier, int x, int y,
                                int z) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, "
      "%5}], "
      "[%2];\n" ::"r"(shared_address(shared)),
      "l"(map), "r"(shared_address(barrier)), "r"(x), "r"(y), "r"(z)
      : "memory");
}
// A piece of plain memory, a multiple of 16 bytes at a multiple of 16.
__device__ inline void bulk_load(void* shared, const void* global, std::uint64_t* barrier,
                                 std::uint32_t bytes) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %3, [%2];\n" ::"r"(
          shared_address(shared)),
      "l"(global), "r"(shared_address(barrier)), "r"(bytes)
      : "memory");
}

// Columns x.., rows y.. of a matrix.
__device__ inline void tma_load(void* shared, const CUtensorMap* map, std::uint64_t* barrier, int x, int y) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, "
      "%4}], "
      "[%2];\n" ::"r"(shared_address(shared)),
      "l"(map), "r"(shared_address(barrier)), "r"(x), "r"(y)
      : "memory");
}
// Multicast: into the same place of several blocks of the cluster; each of their mbarriers counts the bytes.
__device__ inline void tma_load_multicast(std::uint16_t blocks, void* shared, const CUtensorMap* map,
                                          std::uint64_t* barrier, int x, int y) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%0], [%1, {%4, %5}], [%2], %3;\n" ::"r"(shared_address(shared)),
      "l"(map), "r"(shared_address(barrier)), "h"(blocks), "r"(x), "r"(y)
      : "memory");
}

// Of loads whose lines leave the L2 cache first.
__device__ inline std::uint64_t read_once_policy() {
  std::uint64_t policy;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;\n" : "=l"(policy));
  return policy;
}
// Of those whose lines leave it last.
__device__ inline std::uint64_t read_again_policy() {
  std::uint64_t policy;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;\n" : "=l"(policy));
  return policy;
}
__device__ inline void tma_load_by(std::uint64_t policy, void* shared, const CUtensorMap* map,
                                   std::uint64_t* barrier, int x, int y) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [%0], "
      "[%1, {%3, %4}], [%2], %5;\n" ::"r"(shared_address(shared)),
      "l"(map), "r"(shared_address(barrier)), "r"(x), "r"(y), "l"(policy)
      : "memory");
}
__device__ inline void tma_load_multicast_by(std::uint64_t policy, std::uint16_t blocks, void* shared,
                                             const CUtensorMap* map, std::uint64_t* barrier, int x, int y) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster.L2::cache_hint "
      "[%0], [%1, {%4, %5}], [%2], %3, %6;\n" ::"r"(shared_address(shared)),
      "l"(map), "r"(shared_address(barrier)), "h"(blocks), "r"(x), "r"(y), "l"(policy)
      : "memory");
}

// ---- TMA stores, issued by one thread; what lies outside of the matrix is left out

// In every thread that wrote to shared memory, before one thread lets TMA read it (the async proxy).
__device__ inline void fence_async_proxy() {
  asm volatile("fence.proxy.async.shared::cta;\n" ::: "memory");
}
__device__ inline void tma_store(const CUtensorMap* map, const void* shared, int x, int y) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];\n" ::"l"(map),
      "r"(shared_address(shared)), "r"(x), "r"(y)
      : "memory");
}
// Adds to what is there.
__device__ inline void tma_reduce_add(const CUtensorMap* map, const void* shared, int x, int y) {
  asm volatile(
      "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%2, %3}], [%1];\n" ::"l"(
          map),
      "r"(shared_address(shared)), "r"(x), "r"(y)
      : "memory");
}
__device__ inline void tma_store_commit() {
  asm volatile("cp.async.bulk.commit_group;\n" ::: "memory");
}
// Returns when all but the last kLeft groups have been read from shared memory.
template <int kLeft>
__device__ inline void tma_store_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;\n" ::"n"(kLeft) : "memory");
}
// Returns when everything is written.
__device__ inline void tma_store_wait() {
  asm volatile("cp.async.bulk.wait_group 0;\n" ::: "memory");
}

// ---- clusters

__device__ inline std::uint32_t cluster_rank() {
  std::uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;\n" : "=r"(rank));
  return rank;
}
__device__ inline void cluster_sync() {
  asm volatile(
      "barrier.cluster.arrive.release;\n"
      "barrier.cluster.wait.acquire;\n" ::
          : "memory");
}
// The two halves of cluster_sync(): others may go on in between.
__device__ inline void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release;\n" ::: "memory");
}
__device__ inline void cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire;\n" ::: "memory");
}
// Where something of this block's shared memory lies in that of another block of the cluster.
__device__ inline std::uint32_t address_in_block(const void* shared, std::uint32_t block) {
  std::uint32_t address;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;\n"
               : "=r"(address)
               : "r"(shared_address(shared)), "r"(block));
  return address;
}
// 16 bytes into another block's shared memory in the background; its barrier counts them. Both addresses come
// from address_in_block().
__device__ inline void store_async(std::uint32_t address, std::uint32_t barrier, float a, float b, float c,
                                   float d) {
  asm volatile(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%2, %3, %4, %5}, [%1];\n" ::
          "r"(address),
      "r"(barrier), "f"(a), "f"(b), "f"(c), "f"(d)
      : "memory");
}
// A wait for what other blocks of the cluster did, and an arrival at another block's barrier that tells it
// what this thread has read and written.
__device__ inline void mbarrier_wait_cluster(std::uint64_t* barrier, std::uint32_t phase) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}\n" ::"r"(shared_address(barrier)),
      "r"(phase)
      : "memory");
}
__device__ inline void mbarrier_release_remote(std::uint64_t* barrier, std::uint32_t block) {
  asm volatile(
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];\n" ::"r"(address_in_block(barrier, block))
      : "memory");
}
// Arrives at the barrier of another block of the cluster. What is told is that the tensor cores have read, so
// nothing has to be made visible: a release over the cluster here cost a third of a product's speed.
__device__ inline void mbarrier_arrive_remote(std::uint64_t* barrier, std::uint32_t block) {
  asm volatile(
      "{\n"
      ".reg .b32 remote;\n"
      "mapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [remote];\n"
      "}\n" ::"r"(shared_address(barrier)),
      "r"(block)
      : "memory");
}

#ifdef BUOY_HAS_WGMMA

// ---- registers move between producer and consumer warpgroups (setmaxnreg)

template <int kRegisters>
__device__ inline void setmaxnreg_dec() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;\n" ::"n"(kRegisters));
}
template <int kRegisters>
__device__ inline void setmaxnreg_inc() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;\n" ::"n"(kRegisters));
}

#endif

}  // namespace buoy::ops
