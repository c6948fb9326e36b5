import ChatModel
import JSON

/// Makes events of what has changed on the presence board, in its order.
///
/// Belongs to the one task that works there. What the log does not take is kept for the next time, up to a bound: these
/// events are for those who listen now, and the board can always be asked.
struct PresenceEvents {
    /// Events of one append.
    private static let batch = 500
    /// How many of those who type are named.
    static let typingNamed = 20

    /// A change, and what has to be known of the moment when it happened.
    struct Report {
        var change: PresenceChange
        var origin: PresenceOrigin
        var at: Timetoken
        /// Who types after it, where that is told.
        var typing: [String] = []
    }

    private let limits: Limits
    private var intervals: [ChannelID: OccupancySummary] = [:]
    private var reports: [Report] = []
    private var untold: [EventDraft] = []

    init(limits: Limits) { self.limits = limits }

    /// Whether nothing is gathered or waits to be told.
    var isIdle: Bool { intervals.isEmpty && reports.isEmpty && untold.isEmpty }

    mutating func note(
        _ changes: [PresenceChange], _ origin: PresenceOrigin, _ board: any PresenceStore, at now: Timetoken
    ) async throws(ChatError) {
        for change in changes {
            if isOfBusyChannel(change) {
                let due = now.adding(limits.presenceInterval)
                intervals[change.presenceKey.channel, default: OccupancySummary(due: due)].note(change)
                continue
            }
            var report = Report(change: change, origin: origin, at: now)
            if change.presenceKey.kind == .typist {
                report.typing = try await board.occupants(
                    of: change.presenceKey.presenceScope, after: nil, limit: Self.typingNamed
                ).occupants.map(\.user)
            }
            reports.append(report)
        }
    }

    /// Whether the change is told with others. What began to be gathered is told before anything that follows it: else
    /// somebody would be seen to leave of whom nobody has heard that they came.
    private func isOfBusyChannel(_ change: PresenceChange) -> Bool {
        guard change.presenceKey.kind == .occupant, change.happening != .stateChanged else { return false }
        let before = change.occupancy + (change.happening == .joined ? -1 : 1)
        return max(before, change.occupancy) > limits.announcedOccupants || intervals[change.presenceKey.channel] != nil
    }

    /// What has been gathered for long enough becomes events. A clock that was set back ends all of it.
    mutating func closeIntervals(at now: Timetoken) {
        let longest = now.adding(limits.presenceInterval)
        for (channel, interval) in intervals where interval.due <= now || interval.due > longest {
            intervals[channel] = nil
            guard let data = interval.data else { continue }
            untold.append(
                EventDraft(
                    channel: channel, type: "presence.interval", kind: .presence, retention: .passing, data: data))
        }
    }

    /// Hands what there is to the log.
    mutating func tell(_ engine: any Engine, at now: Timetoken) async {
        if !reports.isEmpty {
            let printer = PresencePrinter(
                // Without records the events name ids alone, which is all that is certain of them anyway.
                records: (try? await PresencePrinter.records(of: reports, engine.directory)) ?? [:])
            untold += printer.drafts(of: reports)
            reports = []
        }
        while !untold.isEmpty {
            let part = Array(untold.prefix(Self.batch))
            do throws(ChatError) {
                _ = try await engine.log.append(part, claim: nil)
            } catch {
                // Whether they were stored is unknown: once too few is better than a second coming.
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
