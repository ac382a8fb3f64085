// Matrix multiplication, first step: one thread an element, with the axes the wrong way round.
//
// The lanes of a warp differ in threadIdx.x, and here x counts rows: a load from A reaches for 32 rows
// at once, 32 sectors for 32 words, and the store is scattered just as much.
//
// Look at: sectors a request (32 for A and C, 1 for B); LG throttle, the queue to L1 is full.
// Try: sgemm_coalesced.s, where two lines have changed.

.kernel sgemm_naive(A: ptr.f32, B: ptr.f32, C: ptr.f32)

.let    N = 128                     // a multiple of 32
.launch grid = (N/32, N/32), block = (32, 32)
.arg    A = uniform(N, N), B = uniform(N, N), C = zeros(N, N)
.expect C ~ A @ B, rtol = 1e-5

.count  sectors_per_request @load_a = 32
.count  sectors_per_request @load_b = 1
.count  sectors_per_request @store_c = 32
.count  global_load_requests = warps * N * 2    // two for every multiply-add

.reg    a: f32[4], b: f32[4]

    mov.u32       tx, %tid.x
    mov.u32       ty, %tid.y
    mov.u32       bx, %ctaid.x
    mov.u32       by, %ctaid.y
    lea.u32       row, bx, tx, 5                // 32 rows for the lanes of a warp: the mistake
    lea.u32       column, by, ty, 5             // the same column for all

    mul.lo.s32    i, row, N
    mad.wide.s32  from_a, i, 4, A               // &A[row][0]
    mad.wide.s32  from_b, column, 4, B          // &B[0][column]
    add.s32       i, i, column
    mad.wide.s32  to_c, i, 4, C                 // &C[row][column]

    mov.f32       sum, 0
    mov.u32       left, N
step:                                           // four at a time, as a compiler unrolls it:
load_a:                                         // their loads are on the way together
    ld.global.f32 a[0], [from_a]
load_b:
    ld.global.f32 b[0], [from_b]
.repeat k, 1, 4
    ld.global.f32 a[k], [from_a + 4*k]          // A[row][k]
    ld.global.f32 b[k], [from_b + 4*N*k]        // B[k][column]
.end
.repeat k, 4
    fma.f32       sum, a[k], b[k], sum
.end
    add.u64       from_a, from_a, 4*4
    add.u64       from_b, from_b, 4*4*N
    sub.u32       left, left, 4
    setp.ne.u32   more, left, 0
@more bra         step

store_c:
    st.global.f32 [to_c], sum
    exit
