import ChatModel

/// The names that an expression may use, and their meaning.
public enum FilterDialect: Sendable, Hashable {
    /// The envelope's fields: `type`, `channel`, `user`, `custom_type`, `data`, `meta`; the last two also with their
    /// members, such as `data.order["total"]` and `data.items[0]`. Any other name is a syntax error.
    case native
    /// The PubNub dialect: `data.…` is the payload that PubNub's readers get. Every other name is a member of `meta`.
    /// `uuid`, `userId` and `user_id` are the publisher unless `meta` has a member of that exact name.
    case pubnub
    /// A record as the REST API shows it: its members by name, and members of these, such as `custom.floor`.
    case record(RecordMembers)
}

/// The members of a kind of record that filters may name.
public struct RecordMembers: Sendable, Hashable {
    let names: [String]
    /// The members that contain members defined by the app.
    let objects: [String]

    var known: String { (names + objects.map { $0 + ".…" }).joined(separator: ", ") }
}

/// One step from a JSON value to a part of it.
enum FilterStep: Hashable, Sendable {
    case member(ExactText)
    case index(Int)
}

/// The source of a name's value.
enum FilterSource: Hashable, Sendable {
    case type, channel, user, customType
    /// A member of a record.
    case member([FilterStep])
    case data([FilterStep])
    case meta([FilterStep])
    /// The payload and the metadata as PubNub's readers get them.
    case wireData([FilterStep])
    case wireMeta([FilterStep])
    /// The member of that name in `meta`; without one, the publisher.
    case publisher(String)
}

extension FilterDialect {
    static let nativeNames = "type, channel, user, custom_type, data.…, meta.…"

    /// Resolves a name with the steps that follow it. The failure says why the name has no meaning.
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

/// The reason why a name cannot be used.
struct FilterNameFault: Error {
    let text: String
}
