public import ChatModel

/// As whom a stream listens: a user, and the device, if it has named itself. Part of the stream's selection.
///
/// Made by `Hub.viewer(of:on:naming:)`. While one is there, the hub keeps up where its user stands.
public struct Viewer: Sendable {
    @ExactText public private(set) var user: String
    private let exactDevice: ExactText?
    let userMemberships: UserMemberships

    init(_ userMemberships: UserMemberships, device: String?) {
        user = userMemberships.user.name
        exactDevice = device.map { ExactText($0) }
        self.userMemberships = userMemberships
    }

    public var device: String? { exactDevice?.text }

    /// Whether the event comes of a call that this device has made.
    func isOrigin(of event: Event) -> Bool {
        guard let device = exactDevice, let origin = event.draft.originDevice, let author = event.user else {
            return false
        }
        return ExactText(origin) == device && ExactText(author) == _user
    }
}

extension Viewer: Hashable {
    public static func == (left: Viewer, right: Viewer) -> Bool {
        left._user == right._user && left.exactDevice == right.exactDevice && left.userMemberships === right.userMemberships
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(_user)
        hasher.combine(exactDevice)
    }
}
