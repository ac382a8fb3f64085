// Matrix multiplication with tiles in shared memory: C = A @ B, all n x n, row-major, f32.
//
// A block of 16 x 16 threads computes a 16 x 16 tile of C, one element a thread. It walks along
// a row of tiles of A and down a column of tiles of B. Each pair of tiles is copied to shared
// memory once and then read 16 times, so global memory sees 1/16 of the naive kernel's loads.
//
//               column                      A warp is two rows of the tile: lanes 0-15 hold
//          B  +---|---+                     ty = 0, lanes 16-31 hold ty = 1, and so on.
//             |   v   |                     As[ty][k]  two words for 32 lanes: a broadcast
//    A        |       |  C                  Bs[k][tx]  16 words side by side: no conflict
//   +------+  +-------+
//   |  row ----> sum  |
//
// Look at: the wait for global memory before each tile, and the barriers around it. With N=512 the
//   SMs are full, and their shared memory pipes are the limit: two words for every multiply-add.
// Try: --set N=64, N=512; sgemm_coalesced.s, the same without tiles.

.kernel matmul(A: ptr.f32, B: ptr.f32, C: ptr.f32, n: s32)
.shared As: f32[16][16]
.shared Bs: f32[16][16]

.let    N = 256                     // a multiple of the tile's 16
.launch grid = (N/16, N/16), block = (16, 16)
.arg    A = uniform(N, N), B = uniform(N, N), C = zeros(N, N), n = N
.expect C ~ A @ B, rtol = 1e-5

// Each warp loads 2 rows of 64 bytes: 4 sectors. No access to shared memory has a conflict.
.count  requests @load_a = warps * N/16
.count  requests @load_b = warps * N/16
.count  sectors_per_request @load_a = 4
.count  sectors_per_request @load_b = 4
.count  sectors_per_request @store_c = 4
.count  shared_load_requests = warps * N/16 * 32
.count  shared_load_wavefronts = warps * N/16 * 32
.count  shared_store_wavefronts = warps * N/16 * 2
.count  shared_load_conflicts = 0

.reg    a: f32[16]                  // this thread's row of As
.reg    b: f32[16]                  // and its column of Bs

    mov.u32       tx, %tid.x
    mov.u32       ty, %tid.y
    mov.u32       bx, %ctaid.x
    mov.u32       by, %ctaid.y
    lea.u32       column, bx, tx, 4             // 16 * bx + tx
    lea.u32       row, by, ty, 4                // 16 * by + ty

    // Where this thread reads its first element of each matrix, and where it writes.
    mad.lo.s32    i, row, n, tx
    mad.wide.s32  from_a, i, 4, A               // &A[row][tx]
    mad.lo.s32    i, ty, n, column
    mad.wide.s32  from_b, i, 4, B               // &B[ty][column]
    mad.lo.s32    i, row, n, column
    mad.wide.s32  to_c, i, 4, C                 // &C[row][column]
    mul.wide.s32  down, n, 16*4                 // bytes from a tile of B to the one below

    // Byte offsets in shared memory.
    shl.b32       as_row, ty, 6                 // As[ty][0]
    shl.b32       bs_column, tx, 2              // Bs[0][tx]
    add.u32       mine, as_row, bs_column       // [ty][tx] of either tile

    mov.f32       sum, 0
    shr.u32       tiles, n, 4
tile:
load_a:
    ld.global.f32 x, [from_a]
load_b:
    ld.global.f32 y, [from_b]
    st.shared.f32 [As + mine], x
    st.shared.f32 [Bs + mine], y
    bar.sync      0                             // both tiles are whole

.repeat k, 16
    ld.shared.f32 a[k], [As + as_row + 4*k]     // As[ty][k]
    ld.shared.f32 b[k], [Bs + bs_column + 64*k] // Bs[k][tx]
.end
.repeat k, 16
    fma.f32       sum, a[k], b[k], sum
.end

    bar.sync      0                             // nobody needs the tiles any more
    add.u64       from_a, from_a, 16*4
    add.u64       from_b, from_b, down
    sub.u32       tiles, tiles, 1
    setp.ne.u32   more, tiles, 0
@more bra         tile

store_c:
    st.global.f32 [to_c], sum
    exit
