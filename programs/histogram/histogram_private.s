// A histogram with a private copy of the bins in each block's shared memory.
//
// A block counts its part in shared memory, where an atomic costs a few cycles, and adds its 256 bins
// to those in global memory once at the end.
//
// Look at: the wavefronts of the shared atomic (lanes in one bank take turns, whether their address is
//   the same or not); global atomics: 256 a block instead of one an element.
// Try: --set SPREAD=1 (32 wavefronts each), ITEMS=1 (then the private copy does not pay).

.kernel histogram_private(data: ptr.u32, bins: ptr.u32, n: u32)
.shared own: u32[256]

.let    N = 16384
.let    ITEMS = 8                   // elements a thread
.let    SPREAD = 256                // values are below this; a power of two up to 256
.launch grid = cdiv(N, 256*ITEMS), block = 256
.arg    data = integers(0, SPREAD, N), bins = zeros(256), n = N
.expect bins == bincount(data, 256)

.count  sectors_per_request @load = 4
.count  requests @merge = warps                 // one for each bin of each block
.count  global_atomic_requests = warps

    mov.u32       t, %tid.x
    mov.u32       b, %ctaid.x
    shl.b32       mine, t, 2
    st.shared.u32 [own + mine], 0
    bar.sync      0                             // all bins are empty

    mad.lo.u32    i, b, 256*ITEMS, t
    mad.wide.u32  from, i, 4, data
    mov.u32       left, ITEMS
item:
    setp.lt.u32   inside, i, n
@!inside bra      skip
load:
    ld.global.u32 value, [from]
    shl.b32       bin, value, 2
add:
    red.shared.add.u32 [own + bin], 1
skip:
    add.u32       i, i, 256
    add.u64       from, from, 256*4
    sub.u32       left, left, 1
    setp.ne.u32   more, left, 0
@more bra         item

    bar.sync      0                             // all of the block has been counted
    ld.shared.u32 count, [own + mine]
    mad.wide.u32  to, t, 4, bins
merge:
    red.global.add.u32 [to], count
    exit
