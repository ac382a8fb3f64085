// Matrix multiplication, first step: one thread an element, with the axes the wrong way round.
//
// The x axis of the block runs down the rows of C, so the lanes of a warp read 32 rows of A at once:
// 32 sectors for 32 words, and the store is scattered just as much.
//
// Look at: sectors a request (32 for A and C, 1 for B), LG throttle, the traffic from L1 to L2.
// Try: sgemm_coalesced.s, where two lines have changed.

.kernel sgemm_naive(A: ptr.f32, B: ptr.f32, C: ptr.f32, n: s32)

.let    N = 128                     // a multiple of 32
.launch grid = (N/32, N/32), block = (32, 32)
.arg    A = uniform(N, N), B = uniform(N, N), C = zeros(N, N), n = N
.expect C ~ A @ B, rtol = 1e-5

.count  sectors_per_request @load_a = 32
.count  sectors_per_request @load_b = 1
.count  sectors_per_request @store_c = 32
.count  global_load_requests = warps * N * 2        // two for every multiply-add

    mov.u32       tx, %tid.x
    mov.u32       ty, %tid.y
    mov.u32       bx, %ctaid.x
    mov.u32       by, %ctaid.y
    lea.u32       row, bx, tx, 5                // one after another: this is the mistake
    lea.u32       column, by, ty, 5             // the same for all lanes of a warp

    mul.lo.s32    i, row, n
    mad.wide.s32  from_a, i, 4, A               // &A[row][0]
    mad.wide.s32  from_b, column, 4, B          // &B[0][column]
    add.s32       i, i, column
    mad.wide.s32  to_c, i, 4, C                 // &C[row][column]
    mul.wide.s32  down, n, 4                    // bytes from a row of B to the next

    mov.f32       sum, 0
    mov.u32       left, n
step:
load_a:
    ld.global.f32 a, [from_a]
load_b:
    ld.global.f32 b, [from_b]
    fma.f32       sum, a, b, sum
    add.u64       from_a, from_a, 4
    add.u64       from_b, from_b, down
    sub.u32       left, left, 1
    setp.ne.u32   more, left, 0
@more bra         step

store_c:
    st.global.f32 [to_c], sum
    exit
