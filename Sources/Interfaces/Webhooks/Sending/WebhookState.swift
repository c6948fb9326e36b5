import ChatModel
import JSON

/// The runtime state of a webhook as one node knows it, or of all nodes together.
struct WebhookState: Sendable {
    var failingSince: Timetoken?
    var lastError: AttemptError?
    var circuit: (condition: CircuitBreaker.Condition, until: Timetoken?) = (.closed, nil)
    var lastSuccess: Timetoken?
    var lastFailure: Timetoken?
    /// The counts of the last five minutes, the last hour and the last day.
    var windows: [AttemptStatistics.Tally]

    init(_ runtime: WebhookRuntime?, at now: Timetoken) {
        let statistics = runtime?.statistics ?? AttemptStatistics()
        failingSince = runtime?.failingSince
        lastError = runtime?.lastError
        if let runtime { circuit = runtime.circuit(at: now) }
        lastSuccess = statistics.lastSuccess
        lastFailure = statistics.lastFailure
        windows = statistics.windows(at: now)
    }

    /// Adds the state of another node. The node that made the newest attempt knows the circuit. What a node knows of
    /// failures is outdated if another node has had a success since then.
    mutating func add(_ other: WebhookState) {
        if max(lastSuccess ?? .zero, lastFailure ?? .zero) < max(other.lastSuccess ?? .zero, other.lastFailure ?? .zero)
        {
            circuit = other.circuit
        }
        let success = [lastSuccess, other.lastSuccess].compactMap(\.self).max()
        let failures = [self, other].compactMap { $0.failures(since: success ?? .zero) }
        failingSince = failures.map(\.since).min()
        lastError = failures.compactMap(\.error).max { $0.at < $1.at }
        lastSuccess = success
        lastFailure = [lastFailure, other.lastFailure].compactMap(\.self).max()
        for (index, tally) in other.windows.enumerated() where index < windows.count { windows[index].add(tally) }
    }

    private func failures(since success: Timetoken) -> (since: Timetoken, error: AttemptError?)? {
        guard let failingSince else { return nil }
        if failingSince > success { return (failingSince, lastError) }
        return lastError.flatMap { $0.at > success ? ($0.at, $0) : nil }
    }
}

// MARK: - Calls between nodes

extension WebhookState {
    func print(to writer: inout JSONWriter) {
        writer.beginObject()
        for (name, time): (StaticString, Timetoken?) in [
            ("failing_since", failingSince), ("last_success", lastSuccess), ("last_failure", lastFailure),
            ("open_until", circuit.until),
        ] {
            if let time { writer.member(name, time.description) }
        }
        writer.member("circuit", circuit.condition.rawValue)
        if let lastError {
            writer.member("error_at", lastError.at.description)
            writer.member("error", lastError.error)
            if let status = lastError.status { writer.member("error_status", status) }
        }
        writer.key("windows")
        writer.beginArray()
        for tally in windows { tally.print(to: &writer) }
        writer.endArray()
        writer.endObject()
    }

    /// Parses the JSON that ``print(to:)`` prints.
    init(_ value: JSONValue) {
        func time(_ name: String) -> Timetoken? { value[name]?.string.flatMap { Timetoken(text: $0) } }
        failingSince = time("failing_since")
        lastSuccess = time("last_success")
        lastFailure = time("last_failure")
        circuit = (
            value["circuit"]?.string.flatMap(CircuitBreaker.Condition.init(rawValue:)) ?? .closed, time("open_until")
        )
        if let at = time("error_at"), let error = value["error"]?.string {
            lastError = AttemptError(at: at, error: error, status: value["error_status"]?.integer.map { Int($0) })
        }
        windows = (value["windows"]?.elements ?? []).map { AttemptStatistics.Tally($0) }
    }
}

extension AttemptStatistics.Tally {
    fileprivate func print(to writer: inout JSONWriter) {
        writer.beginArray()
        for number in [delivered, failed] + durations.map(Int.init) { writer.integer(number) }
        writer.endArray()
    }

    fileprivate init(_ value: JSONValue) {
        let numbers = (value.elements ?? []).map { Int($0.integer ?? 0) }
        guard numbers.count == 2 + durations.count else { return }
        (delivered, failed) = (numbers[0], numbers[1])
        durations = numbers[2...].map { UInt32(clamping: $0) }
    }
}
