import ChatModel

/// The two marks of a member: up to which message a device of the user has got, and up to which the user has read.
public enum ReceiptKind: Sendable, CaseIterable {
    case delivered, read

    func mark(of membership: MembershipRecord) -> Timetoken {
        switch self {
        case .delivered: membership.delivered
        case .read: membership.read
        }
    }

    /// Marks only go forward; what is read has been delivered.
    func set(_ mark: Timetoken, on membership: inout MembershipRecord) {
        membership.delivered = max(membership.delivered, mark)
        if self == .read { membership.read = max(membership.read, mark) }
    }

    var eventType: String {
        switch self {
        case .delivered: "receipt.delivered"
        case .read: "receipt.read"
        }
    }

    /// Who is invited sees what is read, and not what is delivered (`sendbird.md` 1.4).
    var audience: Audience {
        switch self {
        case .delivered: .rule(.joinedButOrigin)
        case .read: .rule(.membersButOrigin)
        }
    }
}
