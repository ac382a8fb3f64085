// Adds two vectors, four elements a thread with 16-byte loads and stores.
//
// The same bytes as vecadd with a quarter of the instructions: 16 sectors a request.
//
// Look at: sectors a request; the instructions issued against those of vecadd.
// Try: --set N=1048576 on both: which resource is the limit then?

.kernel vecadd_x4(A: ptr.f32, B: ptr.f32, C: ptr.f32, n: s32)

.let    N = 65536                   // a multiple of 4
.launch grid = cdiv(N/4, 256), block = 256
.arg    A = uniform(N), B = uniform(N), C = zeros(N), n = N
.expect C == A + B

.count  requests @load_a = cdiv(N, 128)      // one for 128 elements,
.count  requests @load_b = cdiv(N, 128)
.count  requests @store_c = cdiv(N, 128)
.count  sectors @load_a = cdiv(N, 8)         // in 16 sectors of 8 elements
.count  sectors @load_b = cdiv(N, 8)
.count  sectors @store_c = cdiv(N, 8)

.reg    a: f32[4]
.reg    b: f32[4]

    mov.u32       t, %tid.x
    mov.u32       block, %ctaid.x
    mov.u32       width, %ntid.x
    mad.lo.u32    i, block, width, t
    shl.b32       first, i, 2                   // of this thread's elements
    setp.ge.s32   outside, first, n
@outside exit
    mad.wide.s32  from_a, first, 4, A
    mad.wide.s32  from_b, first, 4, B
    mad.wide.s32  to_c, first, 4, C
load_a:
    ld.global.v4.f32 {a[0], a[1], a[2], a[3]}, [from_a]
load_b:
    ld.global.v4.f32 {b[0], b[1], b[2], b[3]}, [from_b]
.repeat k, 4
    add.f32       a[k], a[k], b[k]
.end
store_c:
    st.global.v4.f32 [to_c], {a[0], a[1], a[2], a[3]}
    exit
