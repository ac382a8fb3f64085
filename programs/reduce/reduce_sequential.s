// Sum of each 256 elements: a tree in shared memory with sequential addresses, free of conflicts.
//
// In each step the lower half of what is left adds the upper half: neighbouring threads use
// neighbouring words.
//
// Look at: one wavefront a request in every step; the barriers between the steps.
// Try: reduce_interleaved.s (conflicts), reduce_shuffle.s (no shared memory inside a warp).

.kernel reduce_sequential(data: ptr.f32, sums: ptr.f32)
.shared part: f32[256]

.let    N = 16384                   // a multiple of 256
.launch grid = N/256, block = 256
.arg    data = uniform(N), sums = zeros(N/256)
.expect sums ~ sum(reshape(data, (N/256, 256)), axis=1), rtol = 1e-5

.count  sectors_per_request @load = 4
.count  shared_load_conflicts = 0
.count  shared_store_conflicts = 0

.macro  add_upper(s)
    bar.sync      0
    setp.lt.u32   busy, t, s
@busy ld.shared.f32 x, [part + mine]
@busy ld.shared.f32 y, [part + mine + 4*s]
@busy add.f32     x, x, y
@busy st.shared.f32 [part + mine], x
.end

    mov.u32       t, %tid.x
    mov.u32       b, %ctaid.x
    lea.u32       i, b, t, 8
    mad.wide.u32  from, i, 4, data
    shl.b32       mine, t, 2
load:
    ld.global.f32 value, [from]
    st.shared.f32 [part + mine], value

    add_upper(128)
    add_upper(64)
    add_upper(32)
    add_upper(16)
    add_upper(8)
    add_upper(4)
    add_upper(2)
    add_upper(1)

    setp.ne.u32   other, t, 0
@other exit
    ld.shared.f32 total, [part]
    mad.wide.u32  to, b, 4, sums
    st.global.f32 [to], total
    exit
