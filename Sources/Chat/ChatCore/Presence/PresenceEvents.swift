import ChatModel
import JSON

/// Converts changes of the presence store to events, in the order of the store.
///
/// Used by a single task. Events that the event log rejects stay in memory for the next attempt, up to a maximum
/// number. Above this number, the oldest events are dropped. Losing a presence event is acceptable, because clients can
/// always query the presence store.
struct PresenceEvents {
    /// The maximum number of events in one append to the event log.
    private static let batch = 500
    /// The maximum number of typing users that an event lists.
    static let typingNamed = 20

    /// A presence change that is not an event yet, with the data that must be recorded at the time of the change.
    struct Report {
        var change: PresenceChange
        var origin: PresenceOrigin
        var at: Timetoken
        /// The users who are typing after the change, for events that list them.
        var typing: [String] = []
    }

    private let limits: Limits
    private var intervals: [ChannelID: OccupancySummary] = [:]
    private var reports: [Report] = []
    private var untold: [EventDraft] = []

    init(limits: Limits) { self.limits = limits }

    /// True when no summary is in progress and no event waits to be appended.
    var isIdle: Bool { intervals.isEmpty && reports.isEmpty && untold.isEmpty }

    /// Records changes of the store. Drops the change of a typing user if the store cannot be read, because its event
    /// lists the typing users.
    mutating func record(
        _ changes: [PresenceChange], _ origin: PresenceOrigin, _ store: any PresenceStore, at now: Timetoken
    ) async {
        for change in changes {
            if isOfBusyChannel(change) {
                let due = now.adding(limits.presenceInterval)
                intervals[change.presenceKey.channel, default: OccupancySummary(due: due)].record(change)
                continue
            }
            var report = Report(change: change, origin: origin, at: now)
            if change.presenceKey.kind == .typingUser {
                let page = try? await store.occupants(
                    of: change.presenceKey.presenceScope, after: nil, limit: Self.typingNamed)
                guard let page else { continue }
                report.typing = page.occupants.map(\.user)
            }
            reports.append(report)
        }
    }

    /// Returns true when the change becomes part of a summary. While a channel has an unfinished summary, all changes
    /// of the channel become part of the summary. Otherwise, a client could receive the leave of a user whose join was
    /// not announced.
    private func isOfBusyChannel(_ change: PresenceChange) -> Bool {
        guard change.presenceKey.kind == .occupant, change.happening != .stateChanged else { return false }
        let before = change.occupancy + (change.happening == .joined ? -1 : 1)
        return max(before, change.occupancy) > limits.announcedOccupants || intervals[change.presenceKey.channel] != nil
    }

    /// Creates the events of the summaries whose interval has ended. If the clock was set back, ends all summaries. The
    /// events have the current counts, because other nodes may have changed them since the last change of this node.
    mutating func closeIntervals(_ store: any PresenceStore, at now: Timetoken) async {
        let longest = now.adding(limits.presenceInterval)
        let ended = intervals.filter { $0.value.due <= now || $0.value.due > longest }
        guard !ended.isEmpty else { return }
        let channels = ended.keys.sorted { ExactText($0.name) < ExactText($1.name) }
        let counts = try? await store.counts(of: channels.map { PresenceScope(.occupant, $0) })
        for (index, channel) in channels.enumerated() {
            guard var interval = intervals.removeValue(forKey: channel) else { continue }
            if let counts { interval.occupancy = counts[index] }
            guard let data = interval.data else { continue }
            untold.append(
                EventDraft(
                    channel: channel, type: "presence.interval", kind: .presence, retention: .passing, data: data))
        }
    }

    /// Creates the events of the recorded changes, and appends them to the event log, after the events that an earlier
    /// call could not append.
    mutating func report(_ engine: any Engine, at now: Timetoken) async {
        if !reports.isEmpty {
            let printer = PresencePrinter(
                // If the records cannot be read, the events contain only ids.
                records: (try? await PresencePrinter.records(of: reports, engine.directory)) ?? [:])
            untold += printer.drafts(of: reports)
            reports = []
        }
        while !untold.isEmpty {
            let part = Array(untold.prefix(Self.batch))
            do throws(ChatError) {
                _ = try await engine.log.append(part, claim: nil)
            } catch {
                // The events may have been stored. They are dropped, because a missing event does less harm than a
                // repeated one.
                guard error.code != .outcomeUnknown else {
                    untold.removeFirst(part.count)
                    continue
                }
                untold.removeFirst(max(0, untold.count - limits.waitingDrafts))
                return
            }
            untold.removeFirst(part.count)
        }
    }
}
