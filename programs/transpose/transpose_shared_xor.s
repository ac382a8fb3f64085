// Transposes a matrix through a tile of 32 x 32 in shared memory, swizzled instead of padded.
//
// The column of an element is exclusive-ored with its row: rows and columns both spread over all 32
// banks, and no word is wasted.
//
// Look at: 4 sectors at both global accesses; wavefronts a request of the load from the tile: 1.
// Try: transpose_shared_pad.s, the same with a padded tile.

.kernel transpose_shared_xor(X: ptr.f32, Y: ptr.f32)
.shared tile: f32[32][32]

.let    BITS = 7
.let    N = 1 << BITS               // 128
.launch grid = (N/32, N/32), block = (32, 8)
.arg    X = uniform(N, N), Y = zeros(N, N)
.expect Y == X.T

.count  global_load_sectors = warps * 4 * 4         // four requests a warp, 4 sectors each
.count  global_store_sectors = warps * 4 * 4
.count  shared_store_wavefronts = warps * 4         // rows go in without a conflict
.count  shared_load_wavefronts = warps * 4 * 1

.reg    x: f32[4]                   // a thread moves 4 of the tile's 32 rows

    mov.u32       tx, %tid.x
    mov.u32       ty, %tid.y
    mov.u32       bx, %ctaid.x
    mov.u32       by, %ctaid.y
    lea.u32       i, by, ty, 5
    lea.u32       j, bx, tx, 5
    lea.u32       i, i, j, BITS                 // X[32*by + ty][32*bx + tx]
    mad.wide.u32  from, i, 4, X
    lea.u32       i, bx, ty, 5
    lea.u32       j, by, tx, 5
    lea.u32       i, i, j, BITS                 // Y[32*bx + ty][32*by + tx]
    mad.wide.u32  to, i, 4, Y

.repeat k, 4
    ld.global.f32 x[k], [from + 4*N*8*k]
.end
.repeat k, 4
    add.u32       row, ty, 8*k
    xor.b32       place, tx, row                // column tx of this row stands here
    lea.u32       at, row, place, 5
    shl.b32       at, at, 2
    st.shared.f32 [tile + at], x[k]
.end
    bar.sync      0                             // the tile is whole
.repeat k, 4
    add.u32       column, ty, 8*k
    xor.b32       place, column, tx             // this column of row tx stands here
    lea.u32       at, tx, place, 5
    shl.b32       at, at, 2
    ld.shared.f32 x[k], [tile + at]
.end
.repeat k, 4
    st.global.f32 [to + 4*N*8*k], x[k]
.end
    exit
