-- wrk: GET with a count that a program can read.
function done(summary, latency)
    io.write(string.format("p50 %.0f p99 %.0f requests %d refused %d\n", latency:percentile(50),
        latency:percentile(99), summary.requests, summary.errors.status + summary.errors.connect
        + summary.errors.read + summary.errors.write + summary.errors.timeout))
end
