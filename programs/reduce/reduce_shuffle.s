// Sum of each 256 elements: shuffles inside a warp, shared memory only between warps.
//
// Five butterfly shuffles leave the sum of a warp in every lane; each of the 8 warps puts one word
// into shared memory, and the first warp adds those.
//
// Look at: one barrier instead of eight; the short scoreboard (a shuffle takes the way of shared memory).
// Try: reduce_shuffle_x4.s, which loads four elements at once.

.kernel reduce_shuffle(data: ptr.f32, sums: ptr.f32)
.shared part: f32[8]                // a word for each warp

.let    N = 16384                   // a multiple of 256
.launch grid = N/256, block = 256
.arg    data = uniform(N), sums = zeros(N/256)
.expect sums ~ sum(reshape(data, (N/256, 256)), axis=1), rtol = 1e-5

.count  sectors_per_request @load = 4
.count  shared_load_conflicts = 0
.count  barriers = blocks

.macro  add_over_warp(x)
.repeat k, 5
    shfl.sync.bfly.b32 $other, x, 1 << k, 0x1f, 0xffffffff
    add.f32       x, x, $other
.end
.end

    mov.u32       t, %tid.x
    mov.u32       b, %ctaid.x
    lea.u32       i, b, t, 8
    mad.wide.u32  from, i, 4, data
load:
    ld.global.f32 total, [from]
    add_over_warp(total)

    mov.u32       lane, %laneid
    setp.eq.u32   first, lane, 0
    shr.u32       warp, t, 5
    shl.b32       at, warp, 2
@first st.shared.f32 [part + at], total
    bar.sync      0                             // the sums of all warps are there
    setp.ne.u32   other, warp, 0
@other exit

    setp.lt.u32   has_part, lane, 8             // shared memory holds 8 sums, a warp has 32 lanes
    shl.b32       at, lane, 2
    mov.f32       total, 0
@has_part ld.shared.f32 total, [part + at]
    add_over_warp(total)
    mad.wide.u32  to, b, 4, sums
@first st.global.f32 [to], total
    exit
