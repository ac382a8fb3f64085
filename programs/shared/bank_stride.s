// Shared memory with a stride, by accesses of 32, 64 and 128 bits a lane: the conflicts of banks.
//
// Shared memory has 32 banks of 4 bytes. Lanes that want different words of one bank take turns, a
// wavefront each. With 32-bit accesses a stride of S words costs as many wavefronts as S and 32 have
// in common: odd strides cost nothing, 32 costs 32, and 0 is a broadcast. An access of 64 bits goes
// by halves of a warp and one of 128 bits by quarters, so they take 2 and 4 wavefronts at best.
//
// Look at: wavefronts and conflicts of the three stores and the three loads. At a stride of 0 the
//   wider loads take half of the wavefronts of the stores: only loads can join their phases.
// Try: --set STRIDE=2, 8, 32, 33. At 33 nobody conflicts: that is why tiles are padded.

.kernel bank_stride(Y: ptr.u32)
.let    STRIDE = 1                          // in elements of each access's own width
.let    SHARE = STRIDE & -STRIDE            // the largest power of two in the stride
.shared words: u32[4*(31*STRIDE + 1)] align 128     // as far as the widest access reaches
.launch grid = 1, block = 32
.arg    Y = zeros(3, 32)
.expect Y == outer(1 << iota(3), STRIDE * iota(32))

.count  wavefronts @load32 = 1 if STRIDE == 0 else min(SHARE, 32)
.count  wavefronts @load64 = 1 if STRIDE == 0 else 2 * min(SHARE, 16)       // two halves of 16 lanes
.count  wavefronts @load128 = 2 if STRIDE == 0 else 4 * min(SHARE, 8)       // four groups of 8 lanes
.count  wavefronts @store32 = 1 if STRIDE == 0 else min(SHARE, 32)
.count  wavefronts @store64 = 2 if STRIDE == 0 else 2 * min(SHARE, 16)
.count  wavefronts @store128 = 4 if STRIDE == 0 else 4 * min(SHARE, 8)

.reg    v: b32[4]                           // the words of a lane's element

    mov.u32       lane, %laneid
    mad.wide.u32  to, lane, 4, Y
    mul.lo.u32    i, lane, STRIDE           // the lane's element

    // Word w holds the number w, whatever the width it is written with.
    shl.b32       at, i, 2
store32:
    st.shared.u32 [words + at], i
load32:
    ld.shared.u32 value, [words + at]
    st.global.u32 [to], value

    shl.b32       v[0], i, 1
    add.u32       v[1], v[0], 1
    shl.b32       at, i, 3
store64:
    st.shared.v2.u32 [words + at], {v[0], v[1]}
load64:
    ld.shared.v2.u32 {v[0], v[1]}, [words + at]
    st.global.u32 [to + 128], v[0]

    shl.b32       v[0], i, 2
.repeat k, 1, 4
    add.u32       v[k], v[0], k
.end
    shl.b32       at, i, 4
store128:
    st.shared.v4.u32 [words + at], {v[0], v[1], v[2], v[3]}
load128:
    ld.shared.v4.u32 {v[0], v[1], v[2], v[3]}, [words + at]
    st.global.u32 [to + 256], v[0]
    exit
