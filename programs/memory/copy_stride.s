// Copies elements that lie S words apart: what a warp pays for bytes that it does not use.
//
// Memory moves sectors of 32 bytes. Side by side, 32 lanes fill 4 sectors; 2 words apart they need 8,
// 8 words apart one sector each, and it cannot get worse. An offset of one word makes a fifth sector.
//
// Look at: sectors a request at the load: 4, 8, 16, 32, 32 for S = 1, 2, 4, 8, 32; the bytes from DRAM.
// Try: --set S=2, 4, 8, 32; --set OFFSET=1; both with --set N=1048576, where the cycles show it.

.kernel copy_stride(X: ptr.f32, Y: ptr.f32)

.let    S = 1                       // words from one element to the next: 1, 2, 4, 8 or 32
.let    OFFSET = 0                  // words before the first one
.let    N = 16384                   // elements that are copied
.launch grid = N/256, block = 256
.arg    X = uniform(OFFSET + N*S), Y = zeros(N)
.expect Y == X[OFFSET : OFFSET + N*S : S]

// From the sector of the first lane's word to that of the last; 32 when each lane has its own.
.count  sectors_per_request @load = min(floordiv(OFFSET % 8 + 31*S, 8) + 1, 32)
.count  sectors_per_request @store = 4

    mov.u32       t, %tid.x
    mov.u32       b, %ctaid.x
    lea.u32       i, b, t, 8
    mad.wide.u32  from, i, 4*S, X
    mad.wide.u32  to, i, 4, Y
load:
    ld.global.f32 x, [from + 4*OFFSET]
store:
    st.global.f32 [to], x
    exit
