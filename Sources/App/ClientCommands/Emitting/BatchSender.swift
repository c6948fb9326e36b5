import GatewayClient
import JSON

/// The outcome of sending a batch of lines.
struct BatchOutcome: Sendable {
    /// The outcomes of the lines, in the order of the input.
    var lines: [LineOutcome]
    var readBytes: Int
    /// The failure of a whole request; nil if there was none. The rest of the batch and later batches are then not
    /// sent.
    var failure: CommandFailure?
}

/// Sends batches of lines.
struct BatchSender: Sendable {
    let form: EmissionForm
    let isEnvelopes: Bool
    let access: GatewayAccess

    private struct Numbered {
        let number: Int
        let event: EnvelopeEvent
    }

    /// Emits the valid lines of a batch, in the order of the lines.
    func send(_ batch: InputBatch) async -> BatchOutcome {
        var outcome = BatchOutcome(lines: [], readBytes: batch.readBytes)
        var events: [Numbered] = []
        for line in batch.lines {
            do throws(CommandFailure) { events.append(Numbered(number: line.number, event: try event(line))) } catch {
                outcome.lines.append(.refused(line.number, error.message))
            }
        }
        do throws(CommandFailure) {
            for request in Self.requests(for: events) { outcome.lines += try await emit(request) }
        } catch {
            outcome.failure = error
        }
        outcome.lines.sort { $0.number < $1.number }
        return outcome
    }

    private func event(_ line: InputLine) throws(CommandFailure) -> EnvelopeEvent {
        guard let bytes = line.bytes else { throw CommandFailure("longer than the maximum size of a request") }
        let document: JSONDocument
        do { document = try JSONDocument(bytes, numbers: .lenient) } catch {
            throw CommandFailure("not JSON: \(error.message) (column \(error.column))")
        }
        guard isEnvelopes else {
            return EnvelopeEvent(route: .events, text: form.event(data: document.text, withChannel: true))
        }
        return try form.event(envelope: document)
    }

    /// Groups consecutive events that one request may contain. Each message and each signal needs a separate request.
    private static func requests(for events: [Numbered]) -> [[Numbered]] {
        var requests: [[Numbered]] = []
        for event in events {
            if event.event.route == .events, requests.last?.last?.event.route == .events {
                requests[requests.count - 1].append(event)
            } else {
                requests.append([event])
            }
        }
        return requests
    }

    private func emit(_ request: [Numbered]) async throws(CommandFailure) -> [LineOutcome] {
        guard let first = request.first, first.event.route != .events else { return try await emitBatch(request) }
        let answer = try await access.send(
            Call(
                "POST", RequestPath("channels", form.channel, first.event.route.rawValue),
                body: first.event.text, idempotencyKey: EmissionForm.newIdempotencyKey(),
                accepting: GatewayAccess.refusals))
        return [.answered(first.number, answer)]
    }

    private func emitBatch(_ events: [Numbered]) async throws(CommandFailure) -> [LineOutcome] {
        let answer = try await access.send(
            Call(
                "POST", RequestPath("events", "batch"),
                body: EmissionForm.batch(events.map(\.event.text)), idempotencyKey: EmissionForm.newIdempotencyKey()))
        let results = answer.document?.root["results"]?.elements ?? []
        let texts = answer.document?.text.rawMember("results")?.rawElements() ?? []
        guard results.count == events.count, texts.count == events.count else {
            throw CommandFailure("the gateway returned \(results.count) results for \(events.count) events")
        }
        return events.indices.map { .answered(events[$0].number, results[$0], texts[$0]) }
    }
}
