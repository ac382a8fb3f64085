// Three ways inside each warp: every side is issued for every warp.
//
// Lanes go one of three ways by their number modulo 3. The work takes three times the instructions of
// divergence_warps, and a third of the lanes is busy at a time.
//
// Look at: two divergent branches a warp; instructions issued on the three sides, and their lanes.
// Try: divergence_warps.s, where nothing is lost; --divergence stack.

.kernel divergence_three(Y: ptr.f32)

.let    N = 4096                    // a multiple of 256
.let    WORK = 1024                 // additions on each side, a multiple of 8
.launch grid = N/256, block = 256
.arg    Y = zeros(N)
.expect Y == 1 + WORK * (1 + iota(N) % 32 % 3)

.count  divergent_branches = 2 * warps
.count  issued @first = warps * WORK/8          // every warp runs through all three,
.count  issued @second = warps * WORK/8
.count  issued @third = warps * WORK/8
.count  lanes @first = 11 * warps * WORK/8      // with lanes 0, 3, ... 30,
.count  lanes @second = 11 * warps * WORK/8     // lanes 1, 4, ... 31,
.count  lanes @third = 10 * warps * WORK/8      // lanes 2, 5, ... 29

.macro  add_up(step, again)                     // y += step, WORK times
    mov.u32       left, WORK/8
again:
.repeat k, 8
    add.f32       y, y, step
.end
    sub.u32       left, left, 1
    setp.ne.u32   more, left, 0
@more bra         again
.end

    mov.u32       t, %tid.x
    mov.u32       b, %ctaid.x
    lea.u32       i, b, t, 8
    mad.wide.u32  to, i, 4, Y
    mov.f32       y, 1
    mov.u32       lane, %laneid
    mul.lo.u32    thirds, lane, 11              // 11/32 is near enough to 1/3 for 32 lanes
    shr.u32       thirds, thirds, 5
    mul.lo.u32    way, thirds, 3
    sub.u32       way, lane, way                // lane modulo 3
    setp.eq.u32   is_second, way, 1
    setp.eq.u32   is_third, way, 2
@is_second bra    go_second
@is_third bra     go_third
    add_up(1, first)
    bra           done
go_second:
    add_up(2, second)
    bra           done
go_third:
    add_up(3, third)
done:
    st.global.f32 [to], y
    exit
