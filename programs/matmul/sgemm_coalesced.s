// Matrix multiplication, second step: neighbouring lanes compute neighbouring columns.
//
// Two lines differ from sgemm_naive: x counts columns and y counts rows. The lanes of a warp now share
// a row of A (one sector for all of them) and read 32 columns of B side by side (4 sectors).
//
// Look at: sectors a request of the two loads, against 32 and 1 in sgemm_naive; the cycles.
// Try: sgemm_shared.s, the next step; --set N=256.

.kernel sgemm_coalesced(A: ptr.f32, B: ptr.f32, C: ptr.f32)

.let    N = 128                     // a multiple of 32
.launch grid = (N/32, N/32), block = (32, 32)
.arg    A = uniform(N, N), B = uniform(N, N), C = zeros(N, N)
.expect C ~ A @ B, rtol = 1e-5

.count  sectors_per_request @load_a = 1
.count  sectors_per_request @load_b = 4
.count  sectors_per_request @store_c = 4
.count  global_load_requests = warps * N * 2    // two for every multiply-add

.reg    a: f32[4], b: f32[4]

    mov.u32       tx, %tid.x
    mov.u32       ty, %tid.y
    mov.u32       bx, %ctaid.x
    mov.u32       by, %ctaid.y
    lea.u32       row, by, ty, 5                // the same row for the lanes of a warp
    lea.u32       column, bx, tx, 5             // 32 columns side by side

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
