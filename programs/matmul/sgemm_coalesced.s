// Matrix multiplication, second step: neighbouring threads compute neighbouring columns.
//
// The only change from sgemm_naive is which thread computes which element. The lanes of a warp now
// share a row of A (one sector for all of them) and read 32 columns of B side by side (4 sectors).
//
// Look at: sectors a request at the two loads, against 32 and 1 in sgemm_naive; the cycles.
// Try: sgemm_shared.s, the next step.

.kernel sgemm_coalesced(A: ptr.f32, B: ptr.f32, C: ptr.f32, n: s32)

.let    N = 128                     // a multiple of 32
.launch grid = (N/32, N/32), block = 1024
.arg    A = uniform(N, N), B = uniform(N, N), C = zeros(N, N), n = N
.expect C ~ A @ B, rtol = 1e-5

.count  sectors_per_request @load_a = 1
.count  sectors_per_request @load_b = 4
.count  sectors_per_request @store_c = 4
.count  global_load_requests = warps * N * 2        // two for every multiply-add

    mov.u32       t, %tid.x
    mov.u32       bx, %ctaid.x
    mov.u32       by, %ctaid.y
    shr.u32       ty, t, 5
    and.b32       tx, t, 31
    lea.u32       row, by, ty, 5                // the same for all lanes of a warp
    lea.u32       column, bx, tx, 5             // one after another

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
