import ChatKit
import ChatModel
import ChatRemote

/// A page of memberships, with the position of the next page; nil on the last page.
public typealias PubNubMembershipPage = (
    memberships: [any PubNubMembershipMetadata], next: (any PubNubHashedPage)?
)

extension PubNub {
    /// Reads a page of a user's memberships.
    ///
    /// - Parameters:
    ///   - userId: the id of the user; nil selects the client's user.
    ///   - limit: the maximum number of memberships, from 1 to 250; nil selects 100.
    public func fetchMemberships(
        userId: String?, include: MembershipInclude = MembershipInclude(), filter: String? = nil,
        sort: [MembershipSortField] = [], limit: Int? = 100, page: (any PubNubHashedPage)? = Page(),
        custom requestConfig: RequestConfiguration = RequestConfiguration(),
        completion: ((Result<PubNubMembershipPage, any Error>) -> Void)?
    ) {
        manageMemberships(
            userId: userId, setting: [], removing: [], include: include, filter: filter, sort: sort, limit: limit,
            page: page, custom: requestConfig, completion: completion)
    }

    /// Makes a user a member of channels. When the user is already a member, sets the fields of the membership that are
    /// not nil. A channel without a record becomes a public channel.
    ///
    /// - Parameters:
    ///   - userId: the id of the user; nil selects the client's user. For another user, the client needs an API key.
    ///   - completion: receives a page of the memberships after the change.
    public func setMemberships(
        userId metadataId: String?, channels memberships: [any PubNubMembershipMetadata],
        include: MembershipInclude = MembershipInclude(), filter: String? = nil, sort: [MembershipSortField] = [],
        limit: Int? = 100, page: (any PubNubHashedPage)? = Page(),
        custom requestConfig: RequestConfiguration = RequestConfiguration(),
        completion: ((Result<PubNubMembershipPage, any Error>) -> Void)?
    ) {
        manageMemberships(
            userId: metadataId, setting: memberships, removing: [], include: include, filter: filter, sort: sort,
            limit: limit, page: page, custom: requestConfig, completion: completion)
    }

    /// Ends memberships of a user. The parameters are those of
    /// ``setMemberships(userId:channels:include:filter:sort:limit:page:custom:completion:)``.
    public func removeMemberships(
        userId metadataId: String?, channels memberships: [any PubNubMembershipMetadata],
        include: MembershipInclude = MembershipInclude(), filter: String? = nil, sort: [MembershipSortField] = [],
        limit: Int? = nil, page: (any PubNubHashedPage)? = Page(),
        custom requestConfig: RequestConfiguration = RequestConfiguration(),
        completion: ((Result<PubNubMembershipPage, any Error>) -> Void)?
    ) {
        manageMemberships(
            userId: metadataId, setting: [], removing: memberships, include: include, filter: filter, sort: sort,
            limit: limit, page: page, custom: requestConfig, completion: completion)
    }

    /// Sets and ends memberships of a user, one after the other. The parameters are those of
    /// ``setMemberships(userId:channels:include:filter:sort:limit:page:custom:completion:)``.
    public func manageMemberships(
        userId: String?, setting: [any PubNubMembershipMetadata], removing: [any PubNubMembershipMetadata],
        include: MembershipInclude = MembershipInclude(), filter: String? = nil, sort: [MembershipSortField] = [],
        limit: Int? = 100, page: (any PubNubHashedPage)? = Page(),
        custom requestConfig: RequestConfiguration = RequestConfiguration(),
        completion: ((Result<PubNubMembershipPage, any Error>) -> Void)?
    ) {
        let user = userId ?? configuration.userId
        var changes = setting.map {
            MembershipChange(user: user, channel: $0.channelMetadataId, MembershipFields($0))
        }
        changes += removing.map { MembershipChange(user: user, channel: $0.channelMetadataId, nil) }
        run(requestConfig, completion) { [changes] backend in
            for change in changes { try await backend.apply(change) }
            let list = RecordList(filter, sort, limit, page, other: "channel")
            let found = try await backend.memberships(of: user, list)
            var memberships: [any PubNubMembershipMetadata] = []
            for record in found.items {
                var membership = PubNubMembershipMetadataBase(record)
                if include.channelFields {
                    membership.channel = try await backend.channel(record.channel)
                        .map { PubNubChannelMetadataBase($0.record) }
                }
                memberships.append(membership)
            }
            return (memberships: memberships, next: found.next)
        }
    }

    /// Reads a page of a channel's members.
    ///
    /// - Parameter limit: the maximum number of members, from 1 to 250; nil selects 100.
    public func fetchMembers(
        channel metadataId: String, include: MemberInclude = MemberInclude(), filter: String? = nil,
        sort: [MembershipSortField] = [], limit: Int? = 100, page: (any PubNubHashedPage)? = Page(),
        custom requestConfig: RequestConfiguration = RequestConfiguration(),
        completion: ((Result<PubNubMembershipPage, any Error>) -> Void)?
    ) {
        manageMembers(
            channel: metadataId, setting: [], removing: [], include: include, filter: filter, sort: sort, limit: limit,
            page: page, custom: requestConfig, completion: completion)
    }

    /// Makes users members of a channel. For users who are already members, sets the fields of the memberships that are
    /// not nil. For other users than the client's user, the client needs an API key.
    ///
    /// - Parameter completion: receives a page of the members after the change.
    public func setMembers(
        channel metadataId: String, users members: [any PubNubMembershipMetadata],
        include: MemberInclude = MemberInclude(), filter: String? = nil, sort: [MembershipSortField] = [],
        limit: Int? = 100, page: (any PubNubHashedPage)? = Page(),
        custom requestConfig: RequestConfiguration = RequestConfiguration(),
        completion: ((Result<PubNubMembershipPage, any Error>) -> Void)?
    ) {
        manageMembers(
            channel: metadataId, setting: members, removing: [], include: include, filter: filter, sort: sort,
            limit: limit, page: page, custom: requestConfig, completion: completion)
    }

    /// Ends the memberships of users in a channel. The parameters are those of
    /// ``setMembers(channel:users:include:filter:sort:limit:page:custom:completion:)``.
    public func removeMembers(
        channel metadataId: String, users members: [any PubNubMembershipMetadata],
        include: MemberInclude = MemberInclude(), filter: String? = nil, sort: [MembershipSortField] = [],
        limit: Int? = 100, page: (any PubNubHashedPage)? = Page(),
        custom requestConfig: RequestConfiguration = RequestConfiguration(),
        completion: ((Result<PubNubMembershipPage, any Error>) -> Void)?
    ) {
        manageMembers(
            channel: metadataId, setting: [], removing: members, include: include, filter: filter, sort: sort,
            limit: limit, page: page, custom: requestConfig, completion: completion)
    }

    /// Sets and ends memberships in a channel, one after the other. The parameters are those of
    /// ``setMembers(channel:users:include:filter:sort:limit:page:custom:completion:)``.
    public func manageMembers(
        channel metadataId: String, setting: [any PubNubMembershipMetadata],
        removing: [any PubNubMembershipMetadata], include: MemberInclude = MemberInclude(), filter: String? = nil,
        sort: [MembershipSortField] = [], limit: Int? = 100, page: (any PubNubHashedPage)? = Page(),
        custom requestConfig: RequestConfiguration = RequestConfiguration(),
        completion: ((Result<PubNubMembershipPage, any Error>) -> Void)?
    ) {
        var changes = setting.map {
            MembershipChange(user: $0.userMetadataId, channel: metadataId, MembershipFields($0))
        }
        changes += removing.map { MembershipChange(user: $0.userMetadataId, channel: metadataId, nil) }
        run(requestConfig, completion) { [changes] backend in
            for change in changes { try await backend.apply(change) }
            let found = try await backend.members(
                of: metadataId, RecordList(filter, sort, limit, page, other: "user"))
            var members: [any PubNubMembershipMetadata] = []
            for record in found.items {
                var member = PubNubMembershipMetadataBase(record)
                if include.uuidFields {
                    member.user = try await backend.user(record.user).map { PubNubUserMetadataBase($0) }
                }
                members.append(member)
            }
            return (memberships: members, next: found.next)
        }
    }
}

/// A membership to set or to end.
private struct MembershipChange: Sendable {
    let user: String
    let channel: String
    /// The fields to set; nil ends the membership.
    let fields: MembershipFields?

    init(user: String, channel: String, _ fields: MembershipFields?) {
        self.user = user
        self.channel = channel
        self.fields = fields
    }
}

extension GatewayBackend {
    /// Sets or ends the membership on behalf of the member. A channel without a record becomes a public channel.
    fileprivate func apply(_ change: MembershipChange) async throws(ChatError) {
        let member = acting(as: change.user)
        guard let fields = change.fields else { return try await member.leave(change.channel) }
        do throws(ChatError) {
            _ = try await member.join(change.channel, fields)
        } catch {
            guard error.code == .notFound else { throw error }
            do throws(ChatError) {
                _ = try await member.create(
                    channel: change.channel, kind: .public, ChannelFields(), users: [], isDistinct: false)
            } catch {
                // Another client has just created the channel.
                guard error.code == .conflict else { throw error }
            }
            _ = try await member.join(change.channel, fields)
        }
    }
}
