import ChatKit
import ChatModel
import ChatRemote

extension PubNub {
    /// Lists the channels that have a record; see
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

    /// Sets the fields of a channel's record that are not nil. When the record does not exist, a public channel is
    /// created, and the client's user is its first member and operator.
    ///
    /// - Parameters:
    ///   - ifMatchesEtag: the version that the record must have; `preconditionFailed` when it has another one.
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

    /// Deletes a channel's record and its memberships. The channel's messages stay.
    ///
    /// - Parameter completion: receives the channel's id.
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
