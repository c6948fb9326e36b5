import ChatModel
import JSON

/// A change of the rows of one presence key.
enum PresenceStep: Sendable {
    /// This node holds the key from now on.
    case enter(PresenceKey)
    /// This node holds the key from now on if another node holds it.
    case adopt(PresenceKey)
    /// A node does not hold the key any more.
    case end(PresenceKey, node: Int64, PresenceChange.PresenceTransition)
    /// The user left: no node holds the key any more.
    case leave(PresenceKey)
    /// The user shows this state to others.
    case show(JSONText?, PresenceKey)
    /// This node held the key when the server lost the rows. Causes no change.
    case restore(PresenceKey, JSONText?)

    var presenceKey: PresenceKey {
        switch self {
        case .enter(let key), .adopt(let key), .end(let key, _, _), .leave(let key), .show(_, let key),
            .restore(let key, _):
            key
        }
    }

    var isRestore: Bool { if case .restore = self { true } else { false } }
}

/// Computes what a list of steps changes, from the rows of its keys: the rows to write, and the changes to report.
struct PresencePlan: Sendable {
    /// The rows of one key.
    private struct Entry: Sendable {
        /// The nodes that held the key before the steps.
        var before: Set<Int64> = []
        /// The nodes that hold the key after the steps.
        var now: Set<Int64> = []
        /// The nodes whose rows are deleted.
        var removed: Set<Int64> = []
        var stateBefore: JSONText?
        var state: JSONText?
    }

    private let node: Int64
    private var entries: [PresenceKey: Entry] = [:]
    private let countsBefore: [PresenceScope: Int]
    private var counts: [PresenceScope: Int]
    /// The changes that the steps caused, in their order.
    private(set) var changes: [PresenceChange] = []

    /// The keys that the steps `adopt` have given to this node.
    private(set) var adopted: [PresenceKey] = []

    /// Creates a plan without steps.
    ///
    /// - Parameters:
    ///   - node: this node.
    ///   - holdings: the rows of all keys of the steps. A row of a user who left counts as no row.
    ///   - counts: the number of users in each scope of the steps; none is zero.
    init(node: Int64, holdings: [(PresenceKey, node: Int64, state: JSONText?)], counts: [PresenceScope: Int]) {
        self.node = node
        countsBefore = counts
        self.counts = counts
        for (key, node, state) in holdings {
            entries[key, default: Entry()].before.insert(node)
            entries[key]?.now.insert(node)
            entries[key]?.stateBefore = state
            entries[key]?.state = state
        }
    }

    mutating func add(_ step: PresenceStep) {
        let key = step.presenceKey
        var entry = entries[key] ?? Entry()
        let wasHeld = !entry.now.isEmpty
        switch step {
        case .enter:
            entry.now.insert(node)
            if !wasHeld { report(key, .joined, by: 1) }
        case .adopt:
            guard wasHeld else { break }
            entry.now.insert(node)
            adopted.append(key)
        case .restore(_, let state):
            entry.now.insert(node)
            if !wasHeld {
                entry.state = state
                counts[key.presenceScope, default: 0] += 1
            }
        case .end(_, let holder, let how):
            entry.removed.insert(holder)
            entry.now.remove(holder)
            if wasHeld, entry.now.isEmpty { end(key, how, &entry) }
        case .leave:
            entry.removed.insert(node)
            entry.now = []
            if wasHeld { end(key, .left, &entry) }
        case .show(let state, _):
            guard wasHeld, entry.state != state else { break }
            entry.state = state
            report(key, .stateChanged, by: 0, state)
        }
        if entry.now.contains(node) { entry.removed.remove(node) }
        entries[key] = entry
    }

    private mutating func end(
        _ key: PresenceKey, _ how: PresenceChange.PresenceTransition, _ entry: inout Entry
    ) {
        report(key, how, by: -1, entry.state)
        entry.state = nil
    }

    private mutating func report(
        _ key: PresenceKey, _ how: PresenceChange.PresenceTransition, by difference: Int, _ state: JSONText? = nil
    ) {
        let count = max(0, counts[key.presenceScope, default: 0] + difference)
        counts[key.presenceScope] = count
        changes.append(PresenceChange(key, how, occupancy: count, state: state))
    }

    /// True if a node holds the key after the steps.
    func isHeld(_ key: PresenceKey) -> Bool { entries[key]?.now.isEmpty == false }

    /// The rows to write.
    var rows: PresenceRows {
        var rows = PresenceRows()
        for (key, entry) in entries {
            for holder in entry.removed { rows.removed.append((key, holder)) }
            for holder in entry.before.subtracting(entry.now).subtracting(entry.removed) {
                rows.ended.append((key, holder))
            }
            let isNew = entry.now.contains(node) && !entry.before.contains(node)
            if isNew { rows.entered.append((key, entry.state)) }
            if entry.state != entry.stateBefore, !entry.now.isEmpty { rows.states.append((key, entry.state)) }
            if entry.now.contains(node), isNew || entry.state != entry.stateBefore {
                rows.ownStates.append((key, entry.state))
            }
        }
        rows.counts = counts.filter { $0.value != countsBefore[$0.key] ?? 0 }
        return rows
    }
}

/// The rows that a plan writes.
struct PresenceRows: Sendable {
    /// The rows to delete.
    var removed: [(PresenceKey, node: Int64)] = []
    /// The rows of other nodes whose user left. The other nodes delete them when they have read them.
    var ended: [(PresenceKey, node: Int64)] = []
    /// The rows of this node to insert.
    var entered: [(PresenceKey, JSONText?)] = []
    /// The keys whose rows get another state.
    var states: [(PresenceKey, JSONText?)] = []
    /// The keys of this node whose state must be kept in memory.
    var ownStates: [(PresenceKey, JSONText?)] = []
    /// The number of users in each scope in which it has changed.
    var counts: [PresenceScope: Int] = [:]
}
