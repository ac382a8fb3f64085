// Sum of each 256 elements: a tree in shared memory with interleaved addresses, which conflict.
//
// In the step with stride s, thread t adds element 2*s*t + s to element 2*s*t. The active threads are
// packed together, so whole warps drop out, but their addresses lie 2*s words apart: more and more
// of them in the same bank.
//
// Look at: wavefronts a request of the steps: 2, 4, 8, 8, 8, 4, 2, 1 for s = 1 to 128.
// Try: reduce_sequential.s, the same tree without a conflict.

.kernel reduce_interleaved(data: ptr.f32, sums: ptr.f32)
.shared part: f32[256]

.let    N = 16384                   // a multiple of 256
.launch grid = N/256, block = 256
.arg    data = uniform(N), sums = zeros(N/256)
.expect sums ~ sum(reshape(data, (N/256, 256)), axis=1), rtol = 1e-5

.count  sectors_per_request @load = 4
.count  wavefronts_per_request @step1 = 2
.count  wavefronts_per_request @step2 = 4
.count  wavefronts_per_request @step4 = 8
.count  wavefronts_per_request @step8 = 8
.count  wavefronts_per_request @step16 = 8
.count  wavefronts_per_request @step32 = 4
.count  wavefronts_per_request @step64 = 2
.count  wavefronts_per_request @step128 = 1

.macro  add_pairs(s, step)
    bar.sync      0
    setp.lt.u32   busy, t, 128/s
    mul.lo.u32    at, t, 8*s                    // byte offset of element 2*s*t
step:
@busy ld.shared.f32 x, [part + at]
@busy ld.shared.f32 y, [part + at + 4*s]
@busy add.f32     x, x, y
@busy st.shared.f32 [part + at], x
.end

    mov.u32       t, %tid.x
    mov.u32       b, %ctaid.x
    lea.u32       i, b, t, 8
    mad.wide.u32  from, i, 4, data
    shl.b32       mine, t, 2
load:
    ld.global.f32 value, [from]
    st.shared.f32 [part + mine], value

    add_pairs(1, step1)
    add_pairs(2, step2)
    add_pairs(4, step4)
    add_pairs(8, step8)
    add_pairs(16, step16)
    add_pairs(32, step32)
    add_pairs(64, step64)
    add_pairs(128, step128)

    setp.ne.u32   other, t, 0
@other exit
    ld.shared.f32 total, [part]
    mad.wide.u32  to, b, 4, sums
    st.global.f32 [to], total
    exit
