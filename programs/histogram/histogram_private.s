// A histogram with a private copy of the bins in each block's shared memory.
//
// A block counts its part in shared memory, where an atomic costs a few cycles, and adds its 256 bins
// to those in global memory once at the end.
//
// Look at: the wavefronts of the shared atomics (lanes in one bank take turns, whether their address
//   is the same or not); global atomics: 256 a block instead of one an element.
// Try: --set SPREAD=1 on this and on histogram_global: all lanes on one bin. --set N=1048576, then
//   ITEMS=1 as well: as many global atomics as elements, and most of the gain is gone.

.kernel histogram_private(data: ptr.u32, bins: ptr.u32, n: u32)
.shared own: u32[256]

.let    N = 16384
.let    ITEMS = 8                   // elements a thread
.let    SPREAD = 256                // values are below this; at most 256
.launch grid = cdiv(N, 256*ITEMS), block = 256
.arg    data = integers(0, SPREAD, N), bins = zeros(256), n = N
.expect bins == bincount(data, 256)

.count  global_load_requests = cdiv(N, 32)      // one for 32 elements,
.count  global_load_sectors = cdiv(N, 8)        // in 4 sectors
.count  shared_atomic_requests = cdiv(N, 32)
.count  requests @merge = warps                 // one for 32 bins of a block
.count  sectors_per_request @merge = 4

.reg    bin: u32[ITEMS]

    mov.u32       t, %tid.x
    mov.u32       b, %ctaid.x
    shl.b32       mine, t, 2
    st.shared.u32 [own + mine], 0

    // All loads first, so that they are on the way together.
    mad.lo.u32    i, b, 256*ITEMS, t            // the block's elements, 256 at a time
    mad.wide.u32  from, i, 4, data
    sub.s32       left, n, i                    // elements from here to the end
.repeat k, ITEMS
    setp.gt.s32   inside, left, 256*k
@inside ld.global.u32 bin[k], [from + 4*256*k]
.end

    bar.sync      0                             // all of the block's bins are empty
.repeat k, ITEMS
    setp.gt.s32   inside, left, 256*k
    shl.b32       bin[k], bin[k], 2             // its byte offset
@inside red.shared.add.u32 [own + bin[k]], 1
.end

    bar.sync      0                             // all of the block's elements are counted
    ld.shared.u32 count, [own + mine]
    mad.wide.u32  to, t, 4, bins
merge:
    red.global.add.u32 [to], count
    exit
