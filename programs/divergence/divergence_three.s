// Three ways inside each warp: every side is issued for every warp.
//
// Lanes go one of three ways by their number modulo 3. Each way is issued for all warps, so the work
// takes three times the instructions of a kernel whose warps go one way.
//
// Look at: two divergent branches a warp; instructions issued on the three sides.
// Try: divergence_warps.s, where nothing is lost.

.kernel divergence_three(Y: ptr.f32)

.let    N = 4096                    // a multiple of 256
.let    WORK = 64                   // additions on each side
.launch grid = N/256, block = 256
.arg    Y = zeros(N)
.expect Y == 1 + WORK * (1 + iota(N) % 32 % 3)

.count  divergent_branches = 2 * warps
.count  issued @first = warps
.count  issued @second = warps
.count  issued @third = warps
.count  lanes @first = 11 * warps   // lanes 0, 3, ... 30
.count  lanes @third = 10 * warps

    mov.u32       t, %tid.x
    mov.u32       b, %ctaid.x
    lea.u32       i, b, t, 8
    mad.wide.u32  to, i, 4, Y
    mov.f32       y, 1
    mov.u32       lane, %laneid
    mul.lo.u32    third_of, lane, 0x5556        // lane / 3 = lane * (2^16 / 3) / 2^16 for small lanes
    shr.u32       third_of, third_of, 16
    mul.lo.u32    way, third_of, 3
    sub.u32       way, lane, way                // lane modulo 3
    setp.eq.u32   is_second, way, 1
    setp.eq.u32   is_third, way, 2
@is_second bra    second
@is_third bra     third
first:
    add.f32       y, y, 1
.repeat k, 1, WORK
    add.f32       y, y, 1
.end
    bra           done
second:
    add.f32       y, y, 2
.repeat k, 1, WORK
    add.f32       y, y, 2
.end
    bra           done
third:
    add.f32       y, y, 3
.repeat k, 1, WORK
    add.f32       y, y, 3
.end
done:
    st.global.f32 [to], y
    exit
