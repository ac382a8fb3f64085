// Matrix multiplication, third step: tiles of 32 x 32 in shared memory.
//
// A block of 1024 threads copies a tile of A and a tile of B to shared memory, multiplies them, and
// goes on to the next pair. Global memory sees 1/32 of the loads of sgemm_coalesced; now shared
// memory is asked twice for every multiply-add.
//
// Look at: MIO throttle (the queue to shared memory is full) and the barrier; no conflicts. One block
//   has an SM for itself, since its registers leave no room for a second: 32 of 64 warps.
// Try: --machine a6000: one block again, but 66 % of its 48 warps; matmul.s, with tiles of 16 x 16.

.kernel sgemm_shared(A: ptr.f32, B: ptr.f32, C: ptr.f32, n: s32)
.shared As: f32[32][32]
.shared Bs: f32[32][32]

.let    N = 128                     // a multiple of 32
.launch grid = (N/32, N/32), block = 1024
.arg    A = uniform(N, N), B = uniform(N, N), C = zeros(N, N), n = N
.expect C ~ A @ B, rtol = 1e-5

.count  sectors_per_request @load_a = 4
.count  sectors_per_request @load_b = 4
.count  sectors_per_request @store_c = 4
.count  shared_load_requests = warps * N * 2        // two for every multiply-add,
.count  shared_load_wavefronts = warps * N * 2      // a broadcast from As, 32 words of Bs side by side
.count  shared_store_wavefronts = warps * N/32 * 2

.reg    a: f32[16], b: f32[16]                      // half of a row of As, of a column of Bs

    mov.u32       t, %tid.x
    mov.u32       bx, %ctaid.x
    mov.u32       by, %ctaid.y
    and.b32       tx, t, 31                     // column in the tile
    shr.u32       ty, t, 5                      // row in the tile
    lea.u32       column, bx, tx, 5
    lea.u32       row, by, ty, 5

    mad.lo.s32    i, row, n, tx
    mad.wide.s32  from_a, i, 4, A               // &A[row][tx]
    mad.lo.s32    i, ty, n, column
    mad.wide.s32  from_b, i, 4, B               // &B[ty][column]
    mad.lo.s32    i, row, n, column
    mad.wide.s32  to_c, i, 4, C                 // &C[row][column]
    mul.wide.s32  down, n, 32*4                 // bytes from a tile of B to the one below

    shl.b32       mine, t, 2                    // [ty][tx] of either tile
    shl.b32       as_row, ty, 7                 // As[ty][0]
    shl.b32       bs_column, tx, 2              // Bs[0][tx]

    mov.f32       sum, 0
    shr.u32       tiles, n, 5
tile:
load_a:
    ld.global.f32 x, [from_a]
load_b:
    ld.global.f32 y, [from_b]
    st.shared.f32 [As + mine], x
    st.shared.f32 [Bs + mine], y
    bar.sync      0                             // both tiles are whole

.repeat half, 0, 32, 16
.repeat k, 16
    ld.shared.f32 a[k], [As + as_row + 4*(half + k)]            // As[ty][half + k]
    ld.shared.f32 b[k], [Bs + bs_column + 128*(half + k)]       // Bs[half + k][tx]
.end
.repeat k, 16
    fma.f32       sum, a[k], b[k], sum
.end
.end

    bar.sync      0                             // nobody needs the tiles any more
    add.u64       from_a, from_a, 32*4
    add.u64       from_b, from_b, down
    sub.u32       tiles, tiles, 1
    setp.ne.u32   more, tiles, 0
@more bra         tile

store_c:
    st.global.f32 [to_c], sum
    exit
