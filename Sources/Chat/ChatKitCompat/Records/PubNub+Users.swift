import ChatKit
import ChatModel
import ChatRemote

extension PubNub {
    /// Lists users.
    ///
    /// - Parameters:
    ///   - filter: an expression over fields: `name LIKE 'An*'`.
    ///   - limit: the maximum number of users, 1 to 250; 100 if omitted.
    ///   - completion: receives the users, and the next page while there are more.
    public func allUserMetadata(
        include: UserIncludeFields = UserIncludeFields(), filter: String? = nil, sort: [ObjectSortField] = [],
        limit: Int? = 100, page: (any PubNubHashedPage)? = Page(),
        custom requestConfig: RequestConfiguration = RequestConfiguration(),
        completion: ((Result<(users: [any PubNubUserMetadata], next: (any PubNubHashedPage)?), any Error>) -> Void)?
    ) {
        run(requestConfig, completion) { backend in
            let found = try await backend.users(RecordList(filter, sort, limit, page))
            return (users: found.items.map { PubNubUserMetadataBase($0) }, next: found.next)
        }
    }

    /// Reads a user's record.
    ///
    /// - Parameter metadataId: the user's id; nil for the client's own user.
    public func fetchUserMetadata(
        _ metadataId: String?, include: UserIncludeFields = UserIncludeFields(),
        custom requestConfig: RequestConfiguration = RequestConfiguration(),
        completion: ((Result<any PubNubUserMetadata, any Error>) -> Void)?
    ) {
        let id = metadataId ?? configuration.userId
        run(requestConfig, completion) { backend in
            guard let record = try await backend.user(id) else {
                throw PubNubError(.resourceNotFound, details: ["user '\(id)' has no record"])
            }
            return PubNubUserMetadataBase(record)
        }
    }

    /// Sets the fields of a user's record that are not nil, and creates the record when it does not exist.
    ///
    /// - Parameters:
    ///   - ifMatchesEtag: the version that the record must have; `preconditionFailed` when it has another one.
    ///   - completion: receives the changed record.
    public func setUserMetadata(
        _ metadata: any PubNubUserMetadata, ifMatchesEtag: String? = nil,
        include: UserIncludeFields = UserIncludeFields(),
        custom requestConfig: RequestConfiguration = RequestConfiguration(),
        completion: ((Result<any PubNubUserMetadata, any Error>) -> Void)?
    ) {
        let (id, fields) = (metadata.metadataId, UserFields(metadata))
        run(requestConfig, completion) { backend in
            let record = try await backend.upsert(
                ifMatchesEtag,
                update: { () throws(ChatError) in
                    try await backend.update(user: id, fields, eTag: ifMatchesEtag)
                },
                create: { () throws(ChatError) in try await backend.create(user: id, fields) })
            return PubNubUserMetadataBase(record)
        }
    }

    /// Deletes a user's record. The user's messages stay.
    ///
    /// - Parameters:
    ///   - metadataId: the user's id; nil for the client's own user.
    ///   - completion: receives the user's id.
    public func removeUserMetadata(
        _ metadataId: String?, custom requestConfig: RequestConfiguration = RequestConfiguration(),
        completion: ((Result<String, any Error>) -> Void)?
    ) {
        let id = metadataId ?? configuration.userId
        run(requestConfig, completion) { backend in
            try await backend.delete(user: id)
            return id
        }
    }
}

extension GatewayBackend {
    /// Changes a record, or creates it when it does not exist and no version is required.
    func upsert<Record: Sendable>(
        _ version: String?, update: () async throws(ChatError) -> Record,
        create: () async throws(ChatError) -> Record
    ) async throws(ChatError) -> Record {
        do throws(ChatError) { return try await update() } catch {
            guard error.code == .notFound, version == nil else { throw error }
        }
        do throws(ChatError) { return try await create() } catch {
            // Another client created the record in the meantime.
            guard error.code == .conflict else { throw error }
        }
        return try await update()
    }
}

extension ChatModel.Page {
    /// The position of the next page; nil on the last one.
    var next: PubNub.Page? { cursor.map { PubNub.Page(start: $0, totalCount: total) } }
}
