// Divergence inside warps: even lanes do one thing, odd lanes another, and each warp does both.
//
// The branch parts the lanes of every warp, so both sides are issued for it, one after the other,
// with half of the lanes idle.
//
// Look at: divergent branches; instructions issued on the two sides against divergence_warps: twice.
// Try: divergence_warps.s, the same work parted between warps; --divergence stack.

.kernel divergence_lanes(Y: ptr.f32)

.let    N = 4096                    // a multiple of 256
.let    WORK = 64                   // multiply-adds on either side
.launch grid = N/256, block = 256
.arg    Y = zeros(N)
.expect Y == where(iota(N) % 2 == 0, WORK + 1, 2*WORK + 1)

.count  divergent_branches = warps
.count  issued @even = warps        // every warp runs through both sides
.count  issued @odd = warps
.count  lanes @even = 16 * warps

    mov.u32       t, %tid.x
    mov.u32       b, %ctaid.x
    lea.u32       i, b, t, 8
    mad.wide.u32  to, i, 4, Y
    mov.f32       y, 1
    and.b32       parity, i, 1
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
