import ChatKit
import ChatModel
import ChatRemote

extension PubNub {
    /// Reads a page of the channels that have a record. The parameters are those of
    /// ``allUserMetadata(include:filter:sort:limit:page:custom:completion:)``.
    public func allChannelMetadata(
        include: IncludeFields = IncludeFields(), filter: String? = nil, sort: [ObjectSortField] = [],
        limit: Int? = 100, page: (any PubNubHashedPage)? = Page(),
        custom requestConfig: RequestConfiguration = RequestConfiguration(),
        completion: (
            (Result<(channels: [any PubNubChannelMetadata], next: (any PubNubHashedPage)?), any Error>) -> Void
        )?
    ) {
        run(requestConfig, completion) { backend in
            let found = try await backend.channels(RecordList(filter, sort, limit, page))
            return (channels: found.items.map { PubNubChannelMetadataBase($0.record) }, next: found.next)
        }
    }

    /// Reads a channel's record.
    public func fetchChannelMetadata(
        _ metadataId: String, include: ChannelIncludeFields = ChannelIncludeFields(),
        custom requestConfig: RequestConfiguration = RequestConfiguration(),
        completion: ((Result<any PubNubChannelMetadata, any Error>) -> Void)?
    ) {
        run(requestConfig, completion) { backend in
            guard let found = try await backend.channel(metadataId) else {
                throw PubNubError(.resourceNotFound, details: ["channel '\(metadataId)' has no record"])
            }
            return PubNubChannelMetadataBase(found.record)
        }
    }

    /// Sets the fields of a channel's record that are not nil. When the channel has no record, creates a public channel
    /// with the client's user as its first member and moderator.
    ///
    /// - Parameters:
    ///   - ifMatchesEtag: the required version of the record; nil accepts every version. When the record has another
    ///     version, the call fails with `preconditionFailed`.
    ///   - completion: receives the changed record.
    public func setChannelMetadata(
        _ metadata: any PubNubChannelMetadata, ifMatchesEtag: String? = nil,
        include: ChannelIncludeFields = ChannelIncludeFields(),
        custom requestConfig: RequestConfiguration = RequestConfiguration(),
        completion: ((Result<any PubNubChannelMetadata, any Error>) -> Void)?
    ) {
        let (id, fields) = (metadata.metadataId, ChannelFields(metadata))
        run(requestConfig, completion) { backend in
            let channel = try await backend.upsert(
                ifMatchesEtag,
                update: { () throws(ChatError) in
                    try await backend.update(channel: id, fields, eTag: ifMatchesEtag)
                },
                create: { () throws(ChatError) in
                    try await backend.create(channel: id, kind: .public, fields, users: [], isDistinct: false)
                })
            return PubNubChannelMetadataBase(channel.record)
        }
    }

    /// Deletes a channel's record and its memberships, but not its messages.
    ///
    /// - Parameter completion: receives the name of the channel.
    public func removeChannelMetadata(
        _ metadataId: String, custom requestConfig: RequestConfiguration = RequestConfiguration(),
        completion: ((Result<String, any Error>) -> Void)?
    ) {
        run(requestConfig, completion) { backend in
            try await backend.delete(channel: metadataId)
            return metadataId
        }
    }
}
