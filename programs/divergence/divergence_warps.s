// A branch between warps: even warps do one thing, odd warps another, and no lane is idle.
//
// The same work as divergence_lanes, but whole warps go the same way, so each issues one side only.
//
// Look at: no divergent branch; instructions issued on the two sides, half of divergence_lanes.
// Try: divergence_lanes.s; divergence_three.s.

.kernel divergence_warps(Y: ptr.f32)

.let    N = 4096                    // a multiple of 256
.let    WORK = 64                   // additions on either side
.launch grid = N/256, block = 256
.arg    Y = zeros(N)
.expect Y == where((iota(N) - iota(N) % 32) % 64 == 0, WORK + 1, 2*WORK + 1)

.count  divergent_branches = 0
.count  issued @even = warps/2      // a warp runs through one side
.count  issued @odd = warps/2
.count  lanes @even = 32 * warps/2

    mov.u32       t, %tid.x
    mov.u32       b, %ctaid.x
    lea.u32       i, b, t, 8
    mad.wide.u32  to, i, 4, Y
    mov.f32       y, 1
    and.b32       parity, i, 32
    setp.ne.u32   is_odd, parity, 0
@is_odd bra       odd
even:
    add.f32       y, y, 1
.repeat k, 1, WORK
    add.f32       y, y, 1
.end
    bra           done
odd:
    add.f32       y, y, 2
.repeat k, 1, WORK
    add.f32       y, y, 2
.end
done:
    st.global.f32 [to], y
    exit
