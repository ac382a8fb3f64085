// Transposes a matrix without shared memory, blocks of 16 x 16: reads down columns, writes along rows.
//
// A warp takes 2 rows of 16 of Y: the store is coalesced (4 sectors), the load touches 16 sectors.
//
// Look at: sectors a request of the load and the store; bytes between L1 and L2 against those that count.
// Try: transpose_row2col_2d.s, where the scattered side is the other one; transpose_shared_pad.s, which has none.

.kernel transpose_col2row_2d(X: ptr.f32, Y: ptr.f32)

.let    BITS = 7
.let    N = 1 << BITS               // 128
.launch grid = (N/16, N/16), block = (16, 16)
.arg    X = uniform(N, N), Y = zeros(N, N)
.expect Y == X.T

.count  sectors_per_request @load = 16
.count  sectors_per_request @store = 4

    mov.u32       tx, %tid.x
    mov.u32       ty, %tid.y
    mov.u32       bx, %ctaid.x
    mov.u32       by, %ctaid.y
    lea.u32       low, bx, tx, 4
    lea.u32       high, by, ty, 4
    lea.u32       i, high, low, BITS            // along the rows of Y
    lea.u32       j, low, high, BITS            // the same element of the other matrix
    mad.wide.u32  from, j, 4, X
    mad.wide.u32  to, i, 4, Y
load:
    ld.global.f32 x, [from]
store:
    st.global.f32 [to], x
    exit
