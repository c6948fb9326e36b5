import ChatCore
import ChatModel
import Following
import HTTPServer

extension LiveStreams {
    /// Whether what the caller stands for is still there and still reaches the selection.
    func isInForce(_ caller: Caller, _ selection: Selection) -> Bool {
        guard let now = service.keyring.caller(key: caller.credential, in: caller.app) else { return false }
        if let end = caller.expires, end <= service.clock.now { return false }
        if service.isRevoked(caller) { return false }
        return selection.isPermitted(to: now)
    }

    func credentialChanged(_ key: APIKey) {
        let changed = ConnectionOwner.Key(app: key.app, id: key.id)
        let expires = service.keyring.caller(key: key.id, in: key.app)?.expires
        guard owners.change(changed, expires: expires) else { return }
        recheck(after: 0) { $0.owner.key == changed }
    }

    /// Closes the streams of those whose credential no longer holds, a part of the roll at a time.
    func recheck(after sequence: UInt64, _ isConcerned: @escaping @Sendable (LiveStream) -> Bool) {
        let part = roll.part(behind: sequence, limit: 4096)
        for stream in part.streams where isConcerned(stream) { recheck(stream) }
        guard let next = part.last else { return }
        loop.post { [weak self] in self?.assumeIsolated { $0.recheck(after: next, isConcerned) } }
    }

    private func recheck(_ stream: LiveStream) {
        if !isInForce(stream.owner.caller, stream.feed.selection) { close(stream, .unauthorized) }
    }

    /// Looks at the streams of those whose time has come, and at no others: there may be tokens that end every second.
    func checkExpiries() {
        var ofNoUser: Set<ObjectIdentifier> = []
        for owner in owners.ended(at: service.clock.now) {
            if let user = owner.caller.user {
                for stream in streams(of: UserID(user, in: owner.caller.app)) where stream.owner === owner {
                    recheck(stream)
                }
            } else {
                ofNoUser.insert(ObjectIdentifier(owner))
            }
        }
        guard !ofNoUser.isEmpty else { return }
        recheck(after: 0) { [ofNoUser] in ofNoUser.contains(ObjectIdentifier($0.owner)) }
    }
}
