// A histogram with atomics on global memory.
//
// Every thread adds one to a bin of 256 in global memory. L2 performs the additions; lanes that hit
// the same bin take turns.
//
// Look at: cycles for spread values against a constant (all 32 lanes of a warp on one bin).
// Try: --set SPREAD=1 (every value in one bin), SPREAD=16; histogram_private.s.

.kernel histogram_global(data: ptr.u32, bins: ptr.u32, n: u32)

.let    N = 16384
.let    SPREAD = 256                // values are below this; a power of two up to 256
.launch grid = cdiv(N, 256), block = 256
.arg    data = integers(0, SPREAD, N), bins = zeros(256), n = N
.expect bins == bincount(data, 256)

.count  sectors @load = cdiv(N, 8)           // 4 for the 32 elements of a warp
.count  requests @add = cdiv(N, 32)
.count  lanes @add = N                       // each a turn of its own at its bin

    mov.u32       t, %tid.x
    mov.u32       b, %ctaid.x
    mov.u32       width, %ntid.x
    mad.lo.u32    i, b, width, t
    setp.ge.u32   outside, i, n
@outside exit
    mad.wide.u32  from, i, 4, data
load:
    ld.global.u32 value, [from]
    mad.wide.u32  bin, value, 4, bins
add:
    red.global.add.u32 [bin], 1
    exit
