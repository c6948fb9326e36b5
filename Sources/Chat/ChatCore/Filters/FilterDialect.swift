import ChatModel

/// The names that an expression may use, and their meaning.
public enum FilterDialect: Sendable, Hashable {
    /// The native dialect: the event's fields `type`, `channel`, `user`, `custom_type`, `data` and `meta`. Members of
    /// `data` and `meta` may be used too, such as `data.order["total"]` and `data.items[0]`. Any other name is an
    /// error.
    case native
    /// The PubNub dialect: `data.…` is the payload in the form that PubNub clients receive. Any other name is a member
    /// of `meta`. The names `uuid`, `userId` and `user_id` are the publisher, unless `meta` has a member with that
    /// name.
    case pubnub
    /// The dialect for records in the form of the REST API: the members of the record, and members of its objects, such
    /// as `custom.floor`.
    case record(RecordMembers)
}

/// The names of the members that a filter for one kind of record may use.
public struct RecordMembers: Sendable, Hashable {
    let names: [String]
    /// The names of the objects whose members the app defines.
    let objects: [String]

    var known: String { (names + objects.map { $0 + ".…" }).joined(separator: ", ") }
}

/// One step of a path into a JSON value: the name of an object's member, or the index of an array's element, from 0.
enum FilterStep: Hashable, Sendable {
    case member(ExactText)
    case index(Int)
}

/// The field of an event or record to which a name in an expression refers.
enum FilterSource: Hashable, Sendable {
    case type, channel, user, customType
    /// A member of a record.
    case member([FilterStep])
    case data([FilterStep])
    case meta([FilterStep])
    /// The payload in the form that PubNub clients receive, or a part of the payload.
    case wireData([FilterStep])
    /// The metadata in the form that PubNub clients receive, or a part of the metadata.
    case wireMeta([FilterStep])
    /// The member of `meta` with the associated name, or the publisher (the user who caused the event) when `meta` has
    /// no such member.
    case publisher(String)
}

extension FilterDialect {
    static let nativeNames = "type, channel, user, custom_type, data.…, meta.…"

    /// Returns the field of an event or record to which `name` and the member accesses after it (`steps`) refer. The
    /// failure says why the dialect does not permit the name.
    func resolve(_ name: String, _ steps: [FilterStep]) -> Result<FilterSource, FilterNameFault> {
        switch self {
        case .native: native(name, steps)
        case .pubnub: .success(pubnub(name, steps))
        case .record(let members):
            members.names.contains(name) || members.objects.contains(name)
                ? .success(.member([.member(ExactText(name))] + steps))
                : .failure(FilterNameFault(text: "unknown name '\(name.prefix(40))' (known: \(members.known))"))
        }
    }

    private func native(_ name: String, _ steps: [FilterStep]) -> Result<FilterSource, FilterNameFault> {
        let field: FilterSource
        switch name {
        case "data": return .success(.data(steps))
        case "meta": return .success(.meta(steps))
        case "type": field = .type
        case "channel": field = .channel
        case "user": field = .user
        case "custom_type": field = .customType
        default:
            return .failure(FilterNameFault(text: "unknown name '\(name.prefix(40))' (known: \(Self.nativeNames))"))
        }
        guard steps.isEmpty else { return .failure(FilterNameFault(text: "'\(name)' is a string and has no members")) }
        return .success(field)
    }

    private func pubnub(_ name: String, _ steps: [FilterStep]) -> FilterSource {
        switch name {
        case "data" where !steps.isEmpty: .wireData(steps)
        case "meta" where !steps.isEmpty: .wireMeta(steps)
        case "uuid" where steps.isEmpty, "userId" where steps.isEmpty, "user_id" where steps.isEmpty: .publisher(name)
        default: .wireMeta([.member(ExactText(name))] + steps)
        }
    }
}

/// The reason why a dialect does not permit a name, as a text.
struct FilterNameFault: Error {
    let text: String
}
