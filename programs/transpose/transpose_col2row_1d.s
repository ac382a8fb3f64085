// Transposes a matrix without shared memory, one-dimensional blocks: reads down columns, writes along rows.
//
// A warp takes 32 neighbours of Y: the store is coalesced (4 sectors), the load touches 32 sectors.
//
// Look at: sectors a request of the load and the store; bytes between L1 and L2 against those that count.
// Try: transpose_row2col_1d.s, where the scattered side is the other one; transpose_shared_pad.s, which has none.

.kernel transpose_col2row_1d(X: ptr.f32, Y: ptr.f32)

.let    BITS = 7
.let    N = 1 << BITS               // 128
.launch grid = N*N/256, block = 256
.arg    X = uniform(N, N), Y = zeros(N, N)
.expect Y == X.T

.count  sectors_per_request @load = 32
.count  sectors_per_request @store = 4

    mov.u32       t, %tid.x
    mov.u32       b, %ctaid.x
    lea.u32       i, b, t, 8                    // number of an element of Y, along its rows
    shr.u32       high, i, BITS
    and.b32       low, i, N - 1
    lea.u32       j, low, high, BITS            // the same element of the other matrix
    mad.wide.u32  from, j, 4, X
    mad.wide.u32  to, i, 4, Y
load:
    ld.global.f32 x, [from]
store:
    st.global.f32 [to], x
    exit
