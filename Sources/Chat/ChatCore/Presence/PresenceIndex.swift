import ChatModel

/// What of its seat a stay is found by.
protocol PresenceKeyPart: Hashable {
    init(of presenceKey: PresenceKey)
}

extension PresenceScope: PresenceKeyPart {
    init(of presenceKey: PresenceKey) { self = presenceKey.presenceScope }
}

extension ExactText: PresenceKeyPart {
    /// The user's name.
    init(of presenceKey: PresenceKey) { self.init(presenceKey.user) }
}

/// Stays by a part of their seats.
///
/// Most tables have one: a user is in one place, a connection holds it, nobody else is there. It stands by itself, because a
/// dictionary for it would take more memory than all else that is kept of the stay.
struct PresenceIndex<Key: PresenceKeyPart> {
    private var first: PresenceEntry?
    private var others: [Key: PresenceEntry] = [:]

    var count: Int { others.count + (first == nil ? 0 : 1) }
    var isEmpty: Bool { first == nil && others.isEmpty }
    /// In no order.
    var all: [PresenceEntry] { (first.map { [$0] } ?? []) + others.values }

    subscript(key: Key) -> PresenceEntry? {
        get { isFirst(key) ? first : others[key] }
        set {
            if isFirst(key) || first == nil && others[key] == nil {
                first = newValue
            } else {
                others[key] = newValue
                // The memory of a crowd goes with the crowd.
                if others.isEmpty { others = [:] }
            }
        }
    }

    private func isFirst(_ key: Key) -> Bool { first.map { Key(of: $0.presenceKey) == key } ?? false }
}
