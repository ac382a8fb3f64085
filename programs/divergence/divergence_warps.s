// A branch between warps: even warps do one thing, odd warps another, and no lane is idle.
//
// The same work as divergence_lanes, but all lanes of a warp go the same way, so a warp issues one
// side only.
//
// Look at: no divergent branch; instructions issued on the two sides, half of divergence_lanes.
// Try: divergence_lanes.s; divergence_three.s.

.kernel divergence_warps(Y: ptr.f32)

.let    N = 4096                    // a multiple of 256
.let    WORK = 1024                 // additions on either side, a multiple of 8
.launch grid = N/256, block = 256
.arg    Y = zeros(N)
.expect Y == 1 + WORK * where(iota(N) % 64 < 32, 1, 2)

.count  divergent_branches = 0
.count  issued @even = warps/2 * WORK/8         // half of the warps run through each side,
.count  issued @odd = warps/2 * WORK/8
.count  lanes @even = 32 * warps/2 * WORK/8     // with all of their lanes
.count  lanes @odd = 32 * warps/2 * WORK/8

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
    and.b32       parity, t, 32                 // of the warp
    setp.ne.u32   is_odd, parity, 0
@is_odd bra       otherwise
    add_up(1, even)
    bra           done
otherwise:
    add_up(2, odd)
done:
    st.global.f32 [to], y
    exit
