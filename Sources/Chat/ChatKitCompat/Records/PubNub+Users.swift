import ChatKit
import ChatModel
import ChatRemote

extension PubNub {
    /// Reads a page of the users that have a record.
    ///
    /// - Parameters:
    ///   - filter: a filter expression, such as `name LIKE 'An*'`; nil selects all users.
    ///   - limit: the maximum number of users, from 1 to 250; nil selects 100.
    ///   - completion: receives the users and the position of the next page; nil on the last page.
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
    /// - Parameter metadataId: the id of the user; nil selects the client's user.
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

    /// Sets the fields of a user's record that are not nil. Creates the record when it does not exist.
    ///
    /// - Parameters:
    ///   - ifMatchesEtag: the required version of the record; nil accepts every version. When the record has another
    ///     version, the call fails with `preconditionFailed`.
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

    /// Deletes a user's record, but not the user's messages.
    ///
    /// - Parameters:
    ///   - metadataId: the id of the user; nil selects the client's user.
    ///   - completion: receives the id of the user.
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
    /// Changes a record. When the record does not exist and no version is required, creates it.
    func upsert<Record: Sendable>(
        _ version: String?, update: () async throws(ChatError) -> Record,
        create: () async throws(ChatError) -> Record
    ) async throws(ChatError) -> Record {
        do throws(ChatError) { return try await update() } catch {
            guard error.code == .notFound, version == nil else { throw error }
        }
        do throws(ChatError) { return try await create() } catch {
            // Another client has just created the record.
            guard error.code == .conflict else { throw error }
        }
        return try await update()
    }
}

extension ChatModel.Page {
    /// The position of the next page; nil on the last page.
    var next: PubNub.Page? { cursor.map { PubNub.Page(start: $0, totalCount: total) } }
}
