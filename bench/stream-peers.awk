# stream-peers.awk - the table of stream-peers, from lines "PROGRAM-THREADS KERNEL
# RATE": the best of each, and the ratio of ours to the peer's.

function row(kernel, ours, peer, n,   a, b) {
    a = best[ours "-" n, kernel]
    b = best[peer "-" n, kernel]
    if (a == 0 || b == 0)
        return
    faster = (a >= b) ? "ours" : (a >= 0.98 * b) ? "within noise" : "PEER"
    printf "%-7s %7d   %-12s %10.1f   %-15s %10.1f %7.3f   %s\n", kernel, n,
        ours, a, peer, b, a / b, faster
}
function table(n) {
    row("copy", "nontemporal", "copy_mem_avx", n)
    row("triad", "nontemporal", "stream_mem_avx", n)
    row("copy", "regular", "copy_avx", n)
    row("triad", "regular", "stream_avx", n)
    for (i = 1; i <= 4; i++)
        row(kernels[i], "nontemporal", "original", n)
    for (i = 1; i <= 4; i++)
        row(kernels[i], "regular", "original", n)
}
{
    if ($3 > best[$1, $2])
        best[$1, $2] = $3
}
END {
    split("copy scale add triad", kernels)
    printf "kernel  threads   %-12s %10s   %-15s %10s   ratio   faster\n",
        "ours", "MB/s", "peer", "MB/s"
    table(1)
    if (threads == 1)
        exit
    table(threads)
    printf "\nscaling, %d threads to 1 (triad):", threads
    split("nontemporal stream_mem_avx regular stream_avx original", names)
    for (i = 1; i <= 5; i++) {
        one = best[names[i] "-1", "triad"]
        all = best[names[i] "-" threads, "triad"]
        if (one > 0)
            printf " %s %.2f", names[i], all / one
    }
    printf "\n"
}
