public import ChatModel

/// A change of an app's settings. A property that is nil leaves its setting unchanged.
public struct AppChange: Sendable {
    /// The new value of ``AppRecord/name``; nil leaves it unchanged.
    public var name: String?
    /// The new value of ``AppRecord/requiresDeclaredTypes``; nil leaves it unchanged.
    public var requiresDeclaredTypes: Bool?
    /// The new value of ``AppRecord/requiresTokens``; nil leaves it unchanged.
    public var requiresTokens: Bool?
    /// The new value of ``AppRecord/storesByDefault``; nil leaves it unchanged.
    public var storesByDefault: Bool?
    /// The new value of ``AppRecord/publicUserFields``; nil leaves it unchanged.
    public var publicUserFields: PublicUserFields?
    /// The new value of ``AppRecord/retention``; nil leaves it unchanged.
    public var retention: Retention?

    /// The time for which events are kept.
    public enum Retention: Sendable, Equatable { case forever, limited(Duration) }

    /// Creates a change of the given settings.
    public init(
        requiresDeclaredTypes: Bool? = nil, requiresTokens: Bool? = nil, storesByDefault: Bool? = nil,
        publicUserFields: PublicUserFields? = nil, retention: Retention? = nil
    ) {
        self.requiresDeclaredTypes = requiresDeclaredTypes
        self.requiresTokens = requiresTokens
        self.storesByDefault = storesByDefault
        self.publicUserFields = publicUserFields
        self.retention = retention
    }

    fileprivate func apply(to app: inout AppRecord) {
        if let name { app.name = name }
        if let requiresDeclaredTypes { app.requiresDeclaredTypes = requiresDeclaredTypes }
        if let requiresTokens { app.requiresTokens = requiresTokens }
        if let storesByDefault { app.storesByDefault = storesByDefault }
        if let publicUserFields { app.publicUserFields = publicUserFields }
        if let retention { app.retention = retention.age }
    }
}

extension AppChange.Retention {
    /// The retention as a duration; nil for no limit.
    fileprivate var age: Duration? {
        switch self {
        case .forever: nil
        case .limited(let age): age
        }
    }
}

extension ChatService {
    /// A function that returns the new rate limits for the current rate limits. The function is called again when
    /// another request changed the app in the meantime.
    public typealias RatesEdit = (RatePolicies) throws(ChatError) -> RatePolicies

    /// Changes an app in one commit. When this method returns, events older than a new retention are hidden. After a
    /// change to a longer retention, events that were already hidden stay hidden.
    ///
    /// - Throws: `.notFound` when the caller belongs to another app and is not an operator of the gateway; `.forbidden`
    ///   for a caller without access to its whole app; `.forbidden` for `rates`, unless the caller is an operator,
    ///   because the admins of the app could otherwise lift its limits; `.forbidden` for any property of `change`
    ///   except `name` and `retention`, when the caller belongs to another app; `.stale` when the version of the app is
    ///   not `etag`.
    @discardableResult public func change(
        _ app: AppID, _ change: AppChange = AppChange(), rates: RatesEdit? = nil, ifMatch etag: String? = nil,
        by caller: Caller
    ) async throws(ChatError) -> AppRecord {
        guard app == caller.app || caller.isOperator else { throw ChatError(.notFound, "no app has this id") }
        try caller.demandWholeApp()
        if let name = change.name { try Keyring.check(appName: name) }
        if rates != nil { try Keyring.requireOperator(caller) }
        let concernsOwnAdmins =
            change.requiresDeclaredTypes != nil || change.requiresTokens != nil || change.storesByDefault != nil
            || change.publicUserFields != nil
        if concernsOwnAdmins, app != caller.app {
            throw ChatError(
                .forbidden,
                "only an admin key of the app itself may change 'require_declared_types', 'demand_tokens', 'store_by_default' and 'public_user_fields'"
            )
        }
        let app = try await keyring.change(app, ifMatch: etag) { app throws(ChatError) in
            change.apply(to: &app)
            if let rates { app.rates = try rates(app.rates) }
        }
        // The retention in the log is authoritative. The record has a copy of it, which the next start applies to the
        // log.
        if change.retention != nil { try await applyRetention(of: app.id) }
        return app
    }

    /// Creates an admin key of the first app for an operator who is locked out, and writes an entry to the audit log.
    /// The service must be stopped.
    ///
    /// - Returns: nil when there is no app.
    /// - Throws: `.unavailable` when the store cannot be read or written.
    public func recoverAdminKey() async throws(ChatError) -> IssuedKey? {
        guard let issued = try await keyring.recover() else { return nil }
        await audit.write(
            AuditOperation(action: "key.recover", actor: nil, resource: issued.key.id), in: issued.key.app)
        return issued
    }

    /// Applies the retentions of the app records to the event log, except for apps without a retention. If an earlier
    /// run of the gateway wrote a new retention to the record but not to the event log, this call completes the change.
    func applyRetentions() async throws(ChatError) {
        for app in keyring.apps where app.retention != nil { try await applyRetention(of: app.id) }
    }

    /// Applies the retention of an app's record to the event log, until the record does not change meanwhile.
    /// Otherwise, the last of two nodes could apply an older retention, and hide events that the newer one keeps.
    private func applyRetention(of id: AppID) async throws(ChatError) {
        var applied: String?
        while let record = try await engine.directory.read(AppRecord.recordKey(of: id)), record.etag != applied {
            guard let app = AppRecord(record, vault) else { return }
            try await log.setRetention(app.retention, of: id)
            applied = record.etag
        }
    }
}
