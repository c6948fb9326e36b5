import ChatKit
import Testing

/// A callback of a delegate: how it comes about, and the devices whose delegates are called. All others are not.
struct DelegateRow: Sendable, CustomTestStringConvertible {
    /// `o` of open channels, `g` of groups, `u` of users, with a number each.
    let id: String
    let callback: String
    let calls: Set<Ear>
    let before: EventRow.Act
    let cause: EventRow.Act

    init(
        _ id: String, _ callback: String, calls: Set<Ear>, before: @escaping EventRow.Act = { _ in },
        cause: @escaping EventRow.Act
    ) {
        self.id = id
        self.callback = callback
        self.calls = calls
        self.before = before
        self.cause = cause
    }

    var testDescription: String { "\(id) \(callback)" }

    static let all =
        open + group + [
            DelegateRow("u1", "didUpdateTotalUnreadMessageCount 1", calls: [.phone, .tablet]) { stage in
                _ = try await stage.message(in: stage.crew(), by: .ben)
            }
        ]
}
