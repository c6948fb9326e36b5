import ChatCore
import HTTPServer
import TestSupport
import Testing

@testable import NativeAPI

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@Suite("The page on metrics") struct MetricsPageTests {
    /// Families that are absent without the thing that they count.
    private static let optional: Set<String> = [
        "parley_store_wal_bytes", "parley_trace_spans_total", "parley_trace_spans_dropped_total",
        // Families that need a listening server.
        "parley_http_requests_in_flight", "parley_http_connections", "parley_http_connections_accepted_total",
        "parley_http_connections_refused_total", "parley_http_connections_timed_out_total",
        "parley_http_received_bytes_total", "parley_http_sent_bytes_total", "parley_http_body_memory_bytes",
        "parley_stream_sent_bytes_total",
    ]

    @Test("names every family with its type, and none that is not there")
    func page() async throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("docs/metrics.md")
        let page = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        let row = /\| `([a-z_]+)` \| (counter|gauge|histogram|summary) \|.*/
        let documented = Set(
            page.split(separator: "\n").compactMap { try? row.wholeMatch(in: $0) }.map { "\($0.1) \($0.2)" })
        try await APIFixture.run { api in
            let lines = await api.call(.get, "/metrics").text.split(separator: "\n")
            let families = Set(lines.filter { $0.hasPrefix("# TYPE ") }.map { String($0.dropFirst(7)) })
            #expect(families.count > 30)
            #expect(families.subtracting(documented).sorted() == [])
            let missing = documented.subtracting(families).filter { family in
                // Families of a cluster are compared with the page in GatewayTests.
                !family.hasPrefix("parley_node_") && !Self.optional.contains(String(family.prefix { $0 != " " }))
            }
            #expect(missing.sorted() == [])
        }
    }

    @Test("/metrics shows the age of waiting deliveries, and the size of the store")
    func ages() async throws {
        try await APIFixture.run { api in
            _ = await api.call(.post, "/v1/webhooks", #"{"url":"https://example.com/hook"}"#)
            _ = await api.call(.post, "/v1/channels/a/events", #"{"type":"x","data":1}"#)
            api.clock.advance(by: .seconds(90))
            let text = await api.call(.get, "/metrics").text
            func value(_ name: String) -> Double {
                let line = text.split(separator: "\n").first { $0.hasPrefix(name + " ") }
                return line.flatMap { Double($0.dropFirst(name.count + 1)) } ?? -1
            }
            #expect(value("parley_log_newest_event_age_seconds").rounded(.down) == 90)
            #expect(value("parley_store_bytes") > 4096)
            #expect(value("parley_store_waiting_events") == 0)
            #expect(value(#"parley_webhook_deliveries{state="dead"}"#) == 0)
            #expect(value("process_start_time_seconds") > 1_700_000_000)
            #expect(value("process_max_fds") >= value("process_open_fds"))
        }
    }
}
