-- wrk: one durable emit of a 300-byte event per request.
local padding = string.rep("x", 300 - 70)
wrk.method = "POST"
wrk.body = '{"type":"order.paid","user":"shop-7","data":{"amount":4200,"note":"' .. padding .. '"}}'
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Authorization"] = "Bearer dev"
local refused = 0
function response(status) if status ~= 201 then refused = refused + 1 end end
function done(summary, latency)
    io.write(string.format("p50 %.0f p99 %.0f requests %d refused %d\n", latency:percentile(50),
        latency:percentile(99), summary.requests, summary.errors.status + summary.errors.connect
        + summary.errors.read + summary.errors.write + summary.errors.timeout))
end
