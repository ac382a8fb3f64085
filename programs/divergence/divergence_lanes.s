// Divergence inside warps: even lanes do one thing, odd lanes another, and each warp does both.
//
// The branch parts the lanes of every warp. Both sides are issued for it, one after the other, each
// with half of the lanes idle: the same work as divergence_warps takes twice as long.
//
// Look at: divergent branches; instructions issued on the two sides; cycles against divergence_warps.
// Try: divergence_warps.s, the same work parted between warps; --divergence stack.

.kernel divergence_lanes(Y: ptr.f32)

.let    N = 4096                    // a multiple of 256
.let    WORK = 1024                 // additions on either side, a multiple of 8
.launch grid = N/256, block = 256
.arg    Y = zeros(N)
.expect Y == 1 + WORK * where(iota(N) % 2 == 0, 1, 2)

.count  divergent_branches = warps
.count  issued @even = warps * WORK/8           // every warp runs through both sides,
.count  issued @odd = warps * WORK/8
.count  lanes @even = 16 * warps * WORK/8       // with half of its lanes
.count  lanes @odd = 16 * warps * WORK/8

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
    and.b32       parity, t, 1                  // of the lane
    setp.ne.u32   is_odd, parity, 0
@is_odd bra       otherwise
    add_up(1, even)
    bra           done
otherwise:
    add_up(2, odd)
done:
    st.global.f32 [to], y
    exit
