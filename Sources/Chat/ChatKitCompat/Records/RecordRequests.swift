import ChatKit

extension PubNub {
    /// The fields of users to read. The options exist for PubNub's SDK and have no effect: every field is always read.
    public struct UserIncludeFields: Sendable {
        /// Has no effect. In PubNub's SDK, true requests the number of all users.
        public var totalCount: Bool

        /// Creates the options, which have no effect.
        public init(custom: Bool = true, type: Bool = true, status: Bool = true, totalCount: Bool = true) {
            self.totalCount = totalCount
        }
    }

    /// The fields of channels to read. The options exist for PubNub's SDK and have no effect: every field is always
    /// read.
    public struct ChannelIncludeFields: Sendable {
        /// Has no effect. In PubNub's SDK, true requests the number of all channels.
        public var totalCount: Bool

        /// Creates the options, which have no effect.
        public init(custom: Bool = true, type: Bool = true, status: Bool = true, totalCount: Bool = true) {
            self.totalCount = totalCount
        }
    }

    /// The older name of ``ChannelIncludeFields``.
    public typealias IncludeFields = ChannelIncludeFields

    /// The fields of a user's memberships to read. The fields of the membership itself are always read.
    public struct MembershipInclude: Sendable {
        /// True to read the records of the channels, with one request for each channel.
        public var channelFields: Bool

        /// Creates a selection. The record of the channel is read when at least one of the parameters whose names begin
        /// with `channel` is true. The other parameters have no effect.
        public init(
            customFields: Bool = true, channelFields: Bool = false, statusField: Bool = true, typeField: Bool = true,
            channelCustomFields: Bool = false, channelTypeField: Bool = false, channelStatusField: Bool = false,
            totalCount: Bool = false
        ) {
            self.channelFields = channelFields || channelCustomFields || channelTypeField || channelStatusField
        }
    }

    /// The fields of a channel's members to read. The fields of the membership itself are always read.
    public struct MemberInclude: Sendable {
        /// True to read the records of the users, with one request for each user.
        public var uuidFields: Bool

        /// Creates a selection. The record of the user is read when at least one of the parameters whose names begin
        /// with `uuid` is true. The other parameters have no effect.
        public init(
            customFields: Bool = true, uuidFields: Bool = false, statusField: Bool = true, typeField: Bool = true,
            uuidCustomFields: Bool = false, uuidTypeField: Bool = false, uuidStatusField: Bool = false,
            totalCount: Bool = false
        ) {
            self.uuidFields = uuidFields || uuidCustomFields || uuidTypeField || uuidStatusField
        }
    }

    /// A field by which users and channels can be sorted.
    public enum ObjectSortProperty: String, Sendable {
        case id, name, type, status, updated

        var field: String { self == .updated ? "updated_at" : rawValue }
    }

    /// A sort field of users or channels, with its direction.
    public struct ObjectSortField: Sendable {
        /// The field.
        public let property: ObjectSortProperty
        /// True for the ascending order, false for the descending order.
        public let ascending: Bool

        /// Creates a sort field.
        public init(property: ObjectSortProperty, ascending: Bool = true) {
            self.property = property
            self.ascending = ascending
        }
    }

    /// A field by which memberships can be sorted.
    public enum MembershipSortProperty: Sendable {
        /// A field of the membership's user or channel: `id`, `name`, `type`, `status` or `updated`.
        case object(ObjectSortProperty)
        case status, type, updated
    }

    /// A sort field of memberships, with its direction.
    public struct MembershipSortField: Sendable {
        /// The field.
        public let property: MembershipSortProperty
        /// True for the ascending order, false for the descending order.
        public let ascending: Bool

        /// Creates a sort field.
        public init(property: MembershipSortProperty, ascending: Bool = true) {
            self.property = property
            self.ascending = ascending
        }
    }
}

extension RecordList {
    init(
        _ filter: String?, _ sort: [PubNub.ObjectSortField], _ limit: Int?, _ page: (any PubNubHashedPage)?
    ) {
        self.init(filter, limit, page)
        self.sort = sort.map { "\($0.property.field):\($0.ascending ? "asc" : "desc")" }
    }

    /// Creates a query for a page of memberships.
    ///
    /// - Parameter other: the prefix of sort fields such as `user.name`: `user` for a query of a channel's members,
    ///   `channel` for a query of a user's memberships.
    init(
        _ filter: String?, _ sort: [PubNub.MembershipSortField], _ limit: Int?, _ page: (any PubNubHashedPage)?,
        other: String
    ) {
        self.init(filter, limit, page)
        self.sort = sort.map { field in
            let name =
                switch field.property {
                case .object(.id): other
                case .object(let property): "\(other).\(property.field)"
                case .status: "status"
                case .type: "type"
                case .updated: "updated_at"
                }
            return "\(name):\(field.ascending ? "asc" : "desc")"
        }
    }

    private init(_ filter: String?, _ limit: Int?, _ page: (any PubNubHashedPage)?) {
        self.init()
        self.filter = filter
        self.limit = limit ?? 100
        cursor = page?.start
    }
}
