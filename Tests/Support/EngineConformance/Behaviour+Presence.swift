public import ChatModel
import JSON
public import TestSupport
public import Testing

/// One promise of `PresenceStore`, as a test for any implementation.
public struct PresenceBehaviour: Sendable, CustomTestStringConvertible {
    /// Creates the stores of one node or of several; "another node" is the last one.
    public typealias Factory = @Sendable (Limits, ManualClock) async throws -> [any PresenceStore]

    /// The promise, as a sentence.
    public let sentence: String
    private let limits: Limits
    private let body: @Sendable (PresenceTrial) async throws -> Void

    init(
        _ sentence: String, limits: Limits = Limits(), _ body: @escaping @Sendable (PresenceTrial) async throws -> Void
    ) {
        self.sentence = sentence
        self.limits = limits
        self.body = body
    }

    public var testDescription: String { sentence }

    /// Runs the behaviour against new stores.
    public func run(_ make: Factory) async throws {
        let clock = ManualClock()
        try await body(PresenceTrial(boards: try await make(limits, clock), clock: clock))
    }

    /// All behaviours of the contract.
    public static let all: [PresenceBehaviour] = [
        PresenceBehaviour("presence begins once and ends with the last of its connections, on any node") {
            trial in
            let (phone, desk) = (HolderID("phone"), HolderID("desk"))
            let presenceKey = trial.presenceKey("ana")
            let first = try await trial.store.hold([presenceKey], of: trial.user("ana"), by: phone)
            #expect(first == [PresenceChange(presenceKey, .joined, occupancy: 1)])
            let other = trial.otherBoard
            #expect(try await other.hold([presenceKey], of: trial.user("ana"), by: desk).isEmpty)
            #expect(try await trial.store.hold([presenceKey], of: trial.user("ana"), by: phone).isEmpty)
            #expect(try await trial.store.release(nil, by: phone).isEmpty)
            #expect(try await other.release(nil, by: desk) == [PresenceChange(presenceKey, .left, occupancy: 0)])
            #expect(try await other.release(nil, by: desk).isEmpty)
        },
        PresenceBehaviour("presence without a sign of life times out once; renewed presence does not") { trial in
            let (ana, ben) = (trial.presenceKey("ana"), trial.presenceKey("ben"))
            _ = try await trial.store.renew([ana, ben], for: .seconds(10))
            trial.clock.advance(by: .seconds(9))
            #expect(try await trial.store.expire().isEmpty)
            #expect(try await trial.store.renew([ana], for: .seconds(10)).isEmpty)
            trial.clock.advance(by: .seconds(1))
            #expect(try await trial.store.expire() == [PresenceChange(ben, .timedOut, occupancy: 1)])
            trial.clock.advance(by: .seconds(9))
            #expect(try await trial.store.expire() == [PresenceChange(ana, .timedOut, occupancy: 0)])
            trial.clock.advance(by: .seconds(3600))
            #expect(try await trial.store.expire().isEmpty)
        },
        PresenceBehaviour("a shorter sign of life counts from its arrival") { trial in
            let presenceKey = trial.presenceKey("ana")
            _ = try await trial.store.renew([presenceKey], for: .seconds(3600))
            _ = try await trial.store.renew([presenceKey], for: .seconds(2))
            trial.clock.advance(by: .seconds(2))
            #expect(try await trial.store.expire().map(\.happening) == [.timedOut])
        },
        PresenceBehaviour("setting the wall clock times out no user") { trial in
            _ = try await trial.store.renew([trial.presenceKey("ana")], for: .seconds(10))
            trial.clock.step(by: .seconds(3600))
            #expect(try await trial.store.expire().isEmpty)
        },
        PresenceBehaviour("a connection that returns within its grace period causes no arrival and no departure") {
            trial in
            let (presenceKey, holder) = (trial.presenceKey("ana"), HolderID("page"))
            _ = try await trial.store.hold([presenceKey], of: trial.user("ana"), by: holder)
            try await trial.store.disconnect(holder, grace: .seconds(30))
            trial.clock.advance(by: .seconds(29))
            #expect(try await trial.store.expire().isEmpty)
            #expect(
                try await trial.store.hold([presenceKey], of: trial.user("ana"), by: HolderID("page again")).isEmpty)
            trial.clock.advance(by: .seconds(3600))
            #expect(try await trial.store.expire().isEmpty)
            try await trial.store.disconnect(HolderID("page again"), grace: .seconds(30))
            trial.clock.advance(by: .seconds(30))
            #expect(try await trial.store.expire() == [PresenceChange(presenceKey, .timedOut, occupancy: 0)])
        },
        PresenceBehaviour(
            "channels that an ending connection holds last as by a sign of life; channels it left do not"
        ) {
            trial in
            let (ana, holder) = (trial.presenceKey("ana"), HolderID("poll"))
            _ = try await trial.store.hold([ana], of: trial.user("ana"), by: holder)
            trial.clock.advance(by: .seconds(3600))
            #expect(try await trial.store.conclude(holder, for: .seconds(10)).isEmpty)
            trial.clock.advance(by: .seconds(9))
            #expect(try await trial.store.expire().isEmpty)
            trial.clock.advance(by: .seconds(1))
            #expect(try await trial.store.expire() == [PresenceChange(ana, .timedOut, occupancy: 0)])
            _ = try await trial.store.hold([ana], of: trial.user("ana"), by: holder)
            _ = try await trial.store.leave([ana])
            #expect(try await trial.store.conclude(holder, for: .seconds(10)).isEmpty)
            let isThere = trial.store.isTaken(ana)
            #expect(!isThere)
        },
        PresenceBehaviour("a connection that ends right after the user left keeps the key only briefly") { trial in
            let (ana, late) = (trial.presenceKey("ana"), HolderID("late poll"))
            _ = try await trial.store.renew([ana], for: .seconds(300))
            for isFollowed in [false, true] {
                _ = try await trial.store.leave([ana])
                _ = try await trial.store.hold([ana], of: trial.user("ana"), by: late)
                trial.clock.advance(by: .seconds(1))
                _ = try await trial.store.conclude(late, for: .seconds(300))
                if isFollowed {
                    _ = try await trial.store.hold([ana], of: trial.user("ana"), by: HolderID("next poll"))
                    _ = try await trial.store.conclude(HolderID("next poll"), for: .seconds(300))
                }
                trial.clock.advance(by: .seconds(2))
                let gone = [PresenceChange(ana, .timedOut, occupancy: 0)]
                #expect(try await trial.store.expire() == (isFollowed ? [] : gone))
            }
        },
        PresenceBehaviour("a user who leaves is gone, whichever connection holds the presence key, and may come back") {
            trial in
            let (presenceKey, holder) = (trial.presenceKey("ana"), HolderID("page"))
            _ = try await trial.store.hold([presenceKey], of: trial.user("ana"), by: holder)
            _ = try await trial.store.renew([presenceKey], for: .seconds(10))
            #expect(try await trial.store.leave([presenceKey]).map(\.happening) == [.left])
            #expect(try await trial.store.leave([presenceKey]).isEmpty)
            #expect(!(trial.store.isTaken(presenceKey)))
            #expect(
                try await trial.store.hold([presenceKey], of: trial.user("ana"), by: holder).map(\.happening) == [
                    .joined
                ])
        },
        PresenceBehaviour("a user who leaves on one node and comes back on another joins again") { trial in
            let (ana, page) = (trial.presenceKey("ana"), HolderID("page"))
            for (store, other) in [(trial.store, trial.otherBoard), (trial.otherBoard, trial.store)] {
                _ = try await store.renew([ana], for: .seconds(300))
                #expect(try await other.renew([ana], for: .seconds(300)).isEmpty)
                #expect(try await other.leave([ana]).map(\.happening) == [.left])
                #expect(try await store.renew([ana], for: .seconds(300)).map(\.happening) == [.joined])
                #expect(try await other.leave([ana]).map(\.happening) == [.left])
                #expect(try await store.hold([ana], of: trial.user("ana"), by: page).map(\.happening) == [.joined])
                #expect(try await store.release(nil, by: page).map(\.happening) == [.left])
            }
        },
        PresenceBehaviour("a participant stays by any connection, and without one by signs of life") { trial in
            let presenceKey = PresenceKey(.participant, of: "ana", on: trial.channel("lobby"))
            _ = try await trial.store.renew([presenceKey], for: .seconds(10))
            _ = try await trial.store.hold([], of: trial.user("ana"), by: HolderID("phone"))
            _ = try await trial.store.hold([], of: trial.user("ana"), by: HolderID("desk"))
            trial.clock.advance(by: .seconds(3600))
            #expect(try await trial.store.expire().isEmpty)
            _ = try await trial.store.release(nil, by: HolderID("phone"))
            #expect(trial.store.isTaken(presenceKey))
            try await trial.store.disconnect(HolderID("desk"), grace: .seconds(30))
            trial.clock.advance(by: .seconds(30))
            #expect(try await trial.store.expire() == [PresenceChange(presenceKey, .timedOut, occupancy: 0)])
            _ = try await trial.store.renew([presenceKey], for: .seconds(10))
            trial.clock.advance(by: .seconds(10))
            #expect(try await trial.store.expire().map(\.happening) == [.timedOut])
        },
        PresenceBehaviour("counts, names and states agree on all nodes, and pages of names are complete") {
            trial in
            let users = (1...25).map { "user\(100 + $0)" }
            let presenceScope = PresenceScope(.occupant, trial.channel("room"))
            _ = try await trial.store.renew(users.shuffled().map { trial.presenceKey($0) }, for: .seconds(10))
            let state = trial.json(#"{"mood":"busy"}"#)
            let changes = try await trial.store.setState(state, of: trial.presenceKey("user103"))
            #expect(changes.map(\.happening) == [.stateChanged] && changes[0].state == state)
            #expect(try await trial.store.setState(state, of: trial.presenceKey("user103")).isEmpty)
            let other = trial.otherBoard
            var seen: [String] = []
            while true {
                let page = try await other.occupants(of: presenceScope, after: seen.last, limit: 10)
                #expect(page.count == 25)
                seen += page.occupants.map(\.user)
                if let busy = page.occupants.first(where: { $0.user == "user103" }) { #expect(busy.state == state) }
                if !page.hasMore { break }
            }
            #expect(seen == users)
            #expect(
                try await other.counts(of: [presenceScope, PresenceScope(.typingUser, trial.channel("room"))]) == [
                    25, 0,
                ])
            _ = try await trial.store.leave([trial.presenceKey("user103")])
            _ = try await trial.store.renew([trial.presenceKey("user103")], for: .seconds(10))
            let again = try await other.occupants(of: presenceScope, after: "user102", limit: 1)
            #expect(again.occupants == [Occupancy.Occupant(user: "user103")])
        },
        PresenceBehaviour("a user who is not present has no state to set") { trial in
            await trial.refusal(.notFound) { _ = try await trial.store.setState(nil, of: trial.presenceKey("ana")) }
        },
        PresenceBehaviour("a user is found in every channel, for each kind of presence separately") { trial in
            let (a, b) = (trial.channel("a"), trial.channel("b"))
            let presenceKeys = [PresenceKey(.occupant, of: "ana", on: b), PresenceKey(.occupant, of: "ana", on: a)]
            _ = try await trial.store.renew(
                presenceKeys + [PresenceKey(.typingUser, of: "ana", on: b)], for: .seconds(10))
            #expect(try await trial.store.channels(of: trial.user("ana"), as: .occupant) == [a, b])
            #expect(try await trial.store.channels(of: trial.user("ana"), as: .typingUser) == [b])
            let stranger = UserID("ana", in: AppID("other"))
            #expect(try await trial.store.channels(of: stranger, as: .occupant).isEmpty)
        },
        PresenceBehaviour("presence beyond the limit is refused, and existing presence continues", limits: .fewSeats) {
            trial in
            let presenceKeys = (0..<3).map { trial.presenceKey("user\($0)") }
            _ = try await trial.store.renew(Array(presenceKeys.dropLast()), for: .seconds(10))
            await trial.refusal(.overloaded) { _ = try await trial.store.renew(presenceKeys, for: .seconds(10)) }
            #expect(!(trial.store.isTaken(presenceKeys[2])))
            #expect(try await trial.store.renew(Array(presenceKeys.dropLast()), for: .seconds(10)).isEmpty)
            _ = try await trial.store.leave([presenceKeys[0]])
            #expect(try await trial.store.renew([presenceKeys[2]], for: .seconds(10)).map(\.happening) == [.joined])
        },
        PresenceBehaviour("each of many entries begins once and ends once, while devices connect, break and renew") {
            trial in
            let ledger = try await (0..<8).concurrentChanges { number in
                var changes: [PresenceChange] = []
                for round in 0..<50 {
                    let user = "user\((number + round) % 10)"
                    let (presenceKey, holder) = (trial.presenceKey(user), HolderID("\(number)/\(round)"))
                    let store = trial.boards[number % trial.boards.count]
                    changes += try await store.hold([presenceKey], of: trial.user(user), by: holder)
                    if round % 3 == 0 { changes += try await store.renew([presenceKey], for: .seconds(1)) }
                    if round % 5 == 0 { changes += try await store.leave([presenceKey]) }
                    if round % 2 == 0 { changes += try await store.release(nil, by: holder) }
                    try await store.disconnect(holder, grace: .seconds(1))
                }
                return changes
            }
            trial.clock.advance(by: .seconds(1))
            var all = ledger
            for store in trial.boards { all += try await store.expire() }
            // The counts are those of one order of all changes: each rise to a count matches one fall from it.
            let (joins, ends) = (all.filter { $0.happening == .joined }, all.filter { $0.happening != .joined })
            #expect(joins.map(\.occupancy).sorted() == ends.map { $0.occupancy + 1 }.sorted())
            for user in Set(all.map(\.presenceKey.user)) {
                let own = all.filter { $0.presenceKey.user == user }.map(\.happening)
                #expect(own.count(where: { $0 == .joined }) == own.count(where: { $0 != .joined }))
            }
            #expect(try await trial.store.counts(of: [PresenceScope(.occupant, trial.channel("room"))]) == [0])
        },
    ]
}

/// The presence stores and their clock, with short forms of frequent operations.
struct PresenceTrial: Sendable {
    let boards: [any PresenceStore]
    let clock: ManualClock
    private let app = AppID("app")

    init(boards: [any PresenceStore], clock: ManualClock) {
        self.boards = boards
        self.clock = clock
    }

    var store: any PresenceStore { boards[0] }
    var otherBoard: any PresenceStore { boards[boards.count - 1] }

    func channel(_ name: String) -> ChannelID { ChannelID(name, in: app) }
    func presenceKey(_ user: String) -> PresenceKey { PresenceKey(.occupant, of: user, on: channel("room")) }
    func user(_ name: String) -> UserID { UserID(name, in: app) }
    func json(_ text: String) -> JSONText { JSONText(trusted: Array(text.utf8)) }

    /// Expects the call to be rejected.
    func refusal(
        _ code: ChatError.Code, location: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
    ) async {
        do {
            try await body()
            Issue.record("nothing was refused, expected \(code)", sourceLocation: location)
        } catch let error as ChatError {
            #expect(error.code == code, sourceLocation: location)
        } catch {
            Issue.record(error, sourceLocation: location)
        }
    }
}

extension Limits {
    fileprivate static var fewSeats: Limits {
        var limits = Limits()
        limits.presenceEntries = 2
        return limits
    }
}

extension Range<Int> {
    /// Runs one task per number concurrently and returns all results.
    fileprivate func concurrentChanges(
        _ body: @escaping @Sendable (Int) async throws -> [PresenceChange]
    ) async throws -> [PresenceChange] {
        try await withThrowingTaskGroup(of: [PresenceChange].self) { group in
            for number in self { group.addTask { try await body(number) } }
            var all: [PresenceChange] = []
            for try await changes in group { all += changes }
            return all
        }
    }
}
