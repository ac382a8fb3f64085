// Loads from shared memory with a stride: 32, 64 and 128 bits a lane, and the conflicts of banks.
//
// Shared memory has 32 banks of 4 bytes. Lanes that want different words of one bank take turns, a
// wavefront each. With 32-bit loads a stride of S words costs as many wavefronts as S and 32 have
// in common: odd strides cost nothing, 32 costs 32, and 0 is a broadcast.
// A 64-bit load takes two wavefronts at best, a 128-bit load four.
//
// Look at: wavefronts and conflicts of the three loads.
// Try: --set STRIDE=2, 8, 32, 33. At 33 nobody conflicts: that is why tiles are padded.

.kernel bank_stride(Y: ptr.u32)
.let    STRIDE = 1                  // in elements of each load's own width
.let    ROWS = cdiv(4*(31*STRIDE + 1), 32)  // rows of 32 words that the widest load reaches
.let    BIT = STRIDE & -STRIDE      // the largest power of two in the stride
.shared words: u32[ROWS][32] align 128
.launch grid = 1, block = 32
.arg    Y = zeros(3, 32)
.expect Y == STRIDE * reshape(iota(32), (1, 32)) * reshape(concatenate((full(1, 1), full(1, 2), full(1, 4))), (3, 1))

.count  wavefronts @load32 = 1 if STRIDE == 0 else min(BIT, 32)
.count  wavefronts @load64 = 1 if STRIDE == 0 else 2 * min(BIT, 16)     // two halves of 16 lanes
.count  wavefronts @load128 = 2 if STRIDE == 0 else 4 * min(BIT, 8)     // four groups of 8 lanes

    mov.u32       lane, %laneid

    // word i holds i: one row of 32 words at a time
    shl.b32       at, lane, 2
    mov.u32       value, lane
    mov.u32       left, ROWS
fill:
    st.shared.u32 [words + at], value
    add.u32       at, at, 128
    add.u32       value, value, 32
    sub.u32       left, left, 1
    setp.ne.u32   more, left, 0
@more bra         fill

    mul.lo.u32    i, lane, STRIDE
    shl.b32       at4, i, 2
    shl.b32       at8, i, 3
    shl.b32       at16, i, 4
load32:
    ld.shared.u32 a, [words + at4]
load64:
    ld.shared.v2.u32 {b, b1}, [words + at8]
load128:
    ld.shared.v4.u32 {c, c1, c2, c3}, [words + at16]

    mad.wide.u32  to, lane, 4, Y
    st.global.u32 [to], a
    st.global.u32 [to + 128], b
    st.global.u32 [to + 256], c
    exit
