import ChatModel
import JSON
import Locking

extension EventTypes {
    /// The maximum number of reports that each app gets in one round.
    private static let reportsAtOnce = 4
    private static let faultsReported = 10

    /// Reports violations in mode `warn` to the operators, until cancelled. The pause after each round limits the
    /// reports to a few events per second and app.
    func reportViolations(pause: Duration = .seconds(1)) async {
        for await _ in violations.arrivals {
            await sendViolations()
            // If the task is cancelled during the sleep, the sequence ends too. So the error of the sleep is ignored.
            try? await Task.sleep(for: pause)
        }
    }

    /// Runs one round of reports: appends a `schema.violated` event on the channel `$system` for each type with counted
    /// violations, but for at most four types of an app. The next rounds report the other types. If an event cannot be
    /// stored, its count is reported in a later round.
    func sendViolations() async {
        for tally in violations.drain(ofEachApp: Self.reportsAtOnce) {
            guard let data = await reportEvent(tally) else { continue }
            let channel = ChannelID(ChannelID.systemName, in: tally.last.channel.app)
            let draft = EventDraft(channel: channel, type: "schema.violated", data: data)
            do throws(ChatError) {
                _ = try await log.append([draft], claim: nil)
            } catch {
                violations.add(tally)
            }
        }
    }

    /// Runs `report(on:)` away from the event loop, because finding the reasons of one violation may take tens of
    /// milliseconds.
    private func reportEvent(_ tally: ViolationCounters.Tally) async -> JSONText? {
        await asLongWork { report(on: tally) }
    }

    /// Returns the data of the `schema.violated` event for a tally (the count of violations of one type and the last
    /// violating event). Nil when that event matches the current schema, or when the type is no longer validated.
    private func report(on tally: ViolationCounters.Tally) -> JSONText? {
        let event = tally.last
        guard let validator = entry(event.type, in: event.channel.app)?.validator,
            let refusal = validator.refusal(of: event.data)
        else { return nil }
        return JSONText(capacity: 512) { writer in
            writer.beginObject()
            writer.member("event_type", event.type)
            writer.member("schema_version", validator.reference.version)
            writer.member("count", tally.count)
            writer.member("event", event.id)
            writer.member("channel", event.channel.name)
            writer.key("errors")
            writer.beginArray()
            for fault in refusal.faults.prefix(Self.faultsReported) { fault.print(to: &writer) }
            writer.endArray()
            writer.endObject()
        }
    }
}
