import ChatCore
import ChatModel

/// The store's statistics. They are read from the store at most every five seconds, regardless of the number of
/// requests.
actor StoreStatistics {
    private static let holds = Duration.seconds(5)

    private let service: ChatService
    private var known: (statistics: EngineStatistics, at: Timetoken)?

    init(service: ChatService) { self.service = service }

    /// The statistics; nil when the store cannot provide them.
    func latest() async -> EngineStatistics? {
        let now = service.clock.now
        if let known, known.at <= now, now < known.at.adding(Self.holds) { return known.statistics }
        guard let statistics = try? await service.engine.statistics() else { return nil }
        known = (statistics, now)
        return statistics
    }
}

extension NativeAPI {
    static func print(_ statistics: EngineStatistics, at now: Timetoken, to text: inout MetricsText) {
        func age(of moment: Timetoken?) -> Double {
            guard let moment, moment < now else { return 0 }
            return Double(now.rawValue - moment.rawValue) / Double(Timetoken.ticksPerSecond)
        }
        if let bytes = statistics.bytes {
            text.single("parley_store_bytes", .gauge, "Size of the database in bytes.", bytes)
        }
        if let bytes = statistics.walBytes {
            text.single(
                "parley_store_wal_bytes", .gauge,
                "Size of the database's write-ahead log in bytes; parley_store_bytes includes it.", bytes)
        }
        if let waiting = statistics.waitingEvents {
            text.single(
                "parley_store_waiting_events", .gauge, "Events that wait to be committed to the database.", waiting)
        }
        text.single(
            "parley_log_oldest_event_age_seconds", .gauge, "Age of the oldest stored event in seconds.",
            age(of: statistics.oldestEvent))
        text.single(
            "parley_log_newest_event_age_seconds", .gauge, "Seconds since the newest stored event.",
            age(of: statistics.newestEvent))
        text.family("parley_webhook_deliveries", .gauge, "Deliveries that are waiting, held or dead, by state.")
        for (state, queue) in statistics.deliveries {
            text.sample("parley_webhook_deliveries", [("state", state)], queue.count)
        }
        text.family(
            "parley_webhook_delivery_oldest_age_seconds", .gauge,
            "Age in seconds of the oldest event with a waiting, held or dead delivery, by state.")
        for (state, queue) in statistics.deliveries {
            text.sample("parley_webhook_delivery_oldest_age_seconds", [("state", state)], age(of: queue.oldest))
        }
    }

    static func print(_ node: NodeStatistics, to text: inout MetricsText) {
        text.summary(
            "parley_node_commit_seconds", "Seconds of this node's commits, with the wait for the other nodes' commits.",
            node.commits)
        text.summary(
            "parley_node_write_seconds", "Seconds from a write until its commit is visible; writes share commits.",
            node.writes)
        text.single(
            "parley_node_commits_failed_total", .counter, "Commits of this node that failed.", node.failedCommits)
        text.single(
            "parley_node_gap_reads_total", .counter,
            "Reads of the database because messages of other nodes were missing.", node.gapReads)
        text.single(
            "parley_node_head_age_seconds", .gauge,
            "Seconds since this node last read the newest position of the log from the database.",
            node.headAge / .seconds(1))
        text.single(
            "parley_node_lease_seconds", .gauge,
            "Seconds for which this node's lease still lasts; 0 when other nodes may take over its work.",
            node.leaseLeft / .seconds(1))
        text.single(
            "parley_node_webhook_lanes", .gauge, "Webhooks and subscriptions whose deliveries this node sends.",
            node.lanes)
        guard let isBusConnected = node.isBusConnected else { return }
        text.single(
            "parley_node_bus_connected", .gauge, "1 when this node is connected to NATS, otherwise 0.",
            isBusConnected ? 1 : 0)
    }

    func printOperation(to text: inout MetricsText) {
        text.single(
            "parley_http_too_many_requests_total", .counter,
            "Requests rejected with 429, because of a rate or a limit of streams.", metrics.requests.tooMany)
        text.single(
            "parley_audit_entries_lost_total", .counter,
            "Audit log entries that were not stored, because there were too many entries or the store rejected them.",
            service.audit.lostEntries)
        text.single(
            "parley_idempotency_answers_lost_total", .counter,
            "Responses that were not stored for repeated requests with the same Idempotency-Key; a repeated request gets 409.",
            service.answers.lostAnswers)
        guard let tracer = service.tracer else { return }
        text.single("parley_trace_spans_total", .counter, "Trace spans recorded.", tracer.counts.recorded)
        text.single(
            "parley_trace_spans_dropped_total", .counter, "Trace spans that did not reach the collector.",
            tracer.counts.dropped)
    }

    static func print(_ worst: SlowestStreams, to text: inout MetricsText) {
        text.single(
            "parley_stream_worst_lag_bytes", .gauge, "Bytes that wait to be sent to the slowest client of a stream.",
            worst.lagBytes)
        text.single(
            "parley_stream_worst_catch_up_seconds", .gauge,
            "Seconds between the newest event and the position of the stream that is furthest behind in reading stored events; 0 if no stream is behind.",
            Double(worst.catchUpTicks) / Double(Timetoken.ticksPerSecond))
    }
}
