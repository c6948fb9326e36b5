import ChatModel
import JSON

/// Prints presence changes as events of built-in types.
struct PresencePrinter {
    /// The records of channels and users that the events contain.
    let records: [RecordKey: Record]

    /// Reads the records of channels and users for events about participants and typing.
    static func records(
        of reports: [PresenceEvents.Report], _ directory: any Directory
    ) async throws(ChatError) -> [RecordKey: Record] {
        var keys: Set<RecordKey> = []
        for report in reports where report.change.presenceKey.kind != .occupant {
            let channel = report.change.presenceKey.channel
            keys.insert(ChannelRecord.key(channel.name, in: channel.app))
            keys.insert(MemberCounts.key(channel.name, in: channel.app))
            for user in report.typing + [report.change.presenceKey.user] {
                keys.insert(UserRecord.key(user, in: channel.app))
            }
        }
        guard !keys.isEmpty else { return [:] }
        let wanted = Array(keys)
        var found: [RecordKey: Record] = [:]
        for (key, record) in zip(wanted, try await directory.read(wanted)) { found[key] = record }
        return found
    }

    func drafts(of reports: [PresenceEvents.Report]) -> [EventDraft] {
        var last: [ChannelID: Int] = [:]
        for (index, report) in reports.enumerated() where report.change.presenceKey.kind == .participant {
            last[report.change.presenceKey.channel] = index
        }
        return reports.enumerated().flatMap { index, report in
            switch report.change.presenceKey.kind {
            case .occupant: [occupant(report)]
            case .typingUser: [typingUser(report)]
            // If several changes happened in one step, the event with the count follows only the last of them, because
            // the counts between them were never visible.
            case .participant:
                [participant(report)]
                    + (last[report.change.presenceKey.channel] == index ? [participantCount(report)] : [])
            }
        }
    }

    private func occupant(_ report: PresenceEvents.Report) -> EventDraft {
        let change = report.change
        let type =
            switch change.happening {
            case .joined, .renewed: "presence.joined"
            case .left: "presence.left"
            case .timedOut: "presence.timed_out"
            case .stateChanged: "presence.state_changed"
            }
        return draft(type, report, kind: .presence) { writer in
            writer.key("user")
            UserRecord(id: change.presenceKey.user).printReference(to: &writer)
            writer.member("occupancy", change.occupancy)
            if let state = change.state {
                writer.member("state", state)
            } else if change.happening == .stateChanged {
                writer.member("state", .emptyObject)
            }
        }
    }

    private func typingUser(_ report: PresenceEvents.Report) -> EventDraft {
        let isRenewal = report.change.happening == .renewed
        let isTyping = report.change.happening == .joined || isRenewal
        let presenceKey = report.change.presenceKey
        var draft = draft(isTyping ? "typing.started" : "typing.stopped", report) { writer in
            writer.key("user")
            user(presenceKey.user, presenceKey.channel.app).printReference(to: &writer)
            writer.key("typing_users")
            writer.beginArray()
            for name in report.typing { user(name, presenceKey.channel.app).printReference(to: &writer) }
            writer.endArray()
            printChannel(presenceKey.channel, to: &writer)
        }
        draft.wire = report.origin.wire
        if isRenewal {
            draft.audience = .wire
        } else if channel(presenceKey.channel)?.kind.hasMembers == true {
            draft.audience = .rule(.joinedButSubjects, subjects: [presenceKey.user])
        }
        return draft
    }

    private func participant(_ report: PresenceEvents.Report) -> EventDraft {
        let (change, presenceKey) = (report.change, report.change.presenceKey)
        let hasEntered = change.happening == .joined
        var draft = draft(hasEntered ? "participant.entered" : "participant.exited", report) { writer in
            writer.key("user")
            user(presenceKey.user, presenceKey.channel.app).printReference(to: &writer)
            writer.member("participant_count", change.occupancy)
            writer.member(hasEntered ? "entered_at" : "exited_at", report.at.timestamp)
            printChannel(presenceKey.channel, to: &writer)
        }
        draft.audience = .rule(hasEntered ? .participants : .participantsButOrigin, subjects: [presenceKey.user])
        draft.cause = report.origin.cause
        return draft
    }

    private func participantCount(_ report: PresenceEvents.Report) -> EventDraft {
        var draft = draft("channel.participant_count.updated", report) { writer in
            writer.key("channels")
            writer.beginArray()
            writer.beginObject()
            if let channel = channel(report.change.presenceKey.channel) {
                channel.printReferenceMembers(to: &writer)
            } else {
                writer.member("id", report.change.presenceKey.channel.name)
            }
            writer.member("participant_count", report.change.occupancy)
            writer.endObject()
            writer.endArray()
        }
        draft.audience = .rule(.channelList)
        draft.cause = report.origin.cause
        return draft
    }

    private func draft(
        _ type: String, _ report: PresenceEvents.Report, kind: EventKind = .other,
        _ print: (inout JSONWriter) -> Void
    ) -> EventDraft {
        // Readers keep thousands of these events in memory, so the capacity is only the size of a typical event.
        let data = JSONText(capacity: 64) { writer in
            writer.beginObject()
            print(&writer)
            writer.endObject()
        }
        var draft = EventDraft(
            channel: report.change.presenceKey.channel, type: type, kind: kind,
            retention: BuiltInCatalogue.retention(of: type),
            data: data)
        draft.user = report.change.happening == .timedOut ? nil : report.origin.user ?? report.change.presenceKey.user
        draft.originDevice = report.origin.device
        return draft
    }

    private func user(_ name: String, _ app: AppID) -> UserRecord {
        records[UserRecord.key(name, in: app)].flatMap { UserRecord($0) } ?? UserRecord(id: name)
    }

    /// Prints the JSON member `channel`. Prints nothing for a channel without a record.
    private func printChannel(_ id: ChannelID, to writer: inout JSONWriter) {
        guard let channel = channel(id) else { return }
        writer.key("channel")
        channel.show(MemberCounts(records[MemberCounts.key(id.name, in: id.app)]), to: &writer)
    }

    private func channel(_ channel: ChannelID) -> ChannelRecord? {
        records[ChannelRecord.key(channel.name, in: channel.app)].flatMap { ChannelRecord($0) }
    }
}
