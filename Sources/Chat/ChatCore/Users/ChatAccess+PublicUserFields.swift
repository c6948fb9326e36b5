public import ChatModel

extension RecordFields {
    /// Without the private fields of users, so that neither a filter nor an order tells what they hold.
    ///
    /// - Parameter prefix: what stands before the fields of a user's record; empty in lists of users.
    public func showing(_ visible: PublicUserFields, prefix: String = "") -> RecordFields {
        func isVisible(_ field: Field) -> Bool {
            guard field.stored.hasPrefix(prefix) else { return true }
            return visible.reveals(String(field.stored.dropFirst(prefix.count)))
        }
        return RecordFields(self, where: isVisible)
    }
}

extension ChatAccess {
    /// What the app shows to users of other users.
    var publicUserFields: PublicUserFields { service.keyring.app(app)?.publicUserFields ?? .standard }

    /// A record as the caller may see it: a user's credential sees all of its own, and of others what is public.
    func seen(_ user: UserRecord) -> UserRecord {
        guard let own = caller.user, ExactText(own) != ExactText(user.id) else { return user }
        return publicUserFields.shown(user)
    }
}
