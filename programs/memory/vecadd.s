// Adds two vectors: the hello world of GPUs, and a measure of memory.
//
// Each thread loads one element of A and of B and stores one of C: 12 bytes for one addition.
//
// Look at: 4 sectors a request (32 lanes x 4 bytes, side by side); DRAM's share of its peak.
// Try: --set N=1048576; N=1000, where the last warp is not full; vecadd_x4.s, which moves four
//   elements with one instruction.

.kernel vecadd(A: ptr.f32, B: ptr.f32, C: ptr.f32, n: s32)

.let    N = 65536
.launch grid = cdiv(N, 256), block = 256
.arg    A = uniform(N), B = uniform(N), C = zeros(N), n = N
.expect C == A + B

.count  requests @load_a = cdiv(N, 32)       // one for 32 elements,
.count  requests @load_b = cdiv(N, 32)
.count  requests @store_c = cdiv(N, 32)
.count  sectors @load_a = cdiv(N, 8)         // in 4 sectors of 8 elements
.count  sectors @load_b = cdiv(N, 8)
.count  sectors @store_c = cdiv(N, 8)

    mov.u32       t, %tid.x
    mov.u32       b, %ctaid.x
    mov.u32       width, %ntid.x
    mad.lo.u32    i, b, width, t
    setp.ge.s32   outside, i, n
@outside exit
    mad.wide.s32  from_a, i, 4, A
    mad.wide.s32  from_b, i, 4, B
    mad.wide.s32  to_c, i, 4, C
load_a:
    ld.global.f32 x, [from_a]
load_b:
    ld.global.f32 y, [from_b]
    add.f32       x, x, y
store_c:
    st.global.f32 [to_c], x
    exit
