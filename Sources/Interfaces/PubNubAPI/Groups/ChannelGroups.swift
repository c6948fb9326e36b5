import ChatCore
import ChatModel
import HTTPServer
import JSON

/// Channel group calls of the PubNub API. Every call is a GET. The query of a call contains the changes to the group.
extension PubNubAPI {
    func addGroupRoutes(to router: inout Router) {
        let base = "/v1/channel-registration/sub-key/{s}/channel-group"
        add(.get, RoutePattern(base), in: .registry, for: .everyone(key: 3), to: &router, getGroups)
        add(.get, RoutePattern(base + "/{g}"), in: .registry, for: .group, to: &router, getGroup)
        add(.get, RoutePattern(base + "/{g}/remove"), in: .registry, for: .group, to: &router, removeGroup)
    }

    /// Lists the channel groups that are not empty and that the caller may read. The list is limited to about 10,000
    /// names.
    private func getGroups(_ request: WireRequest) async throws -> Response {
        let keyset = try keyset(of: request, at: 3)
        let chat = chat(keyset, for: request)
        var names: [String] = []
        var cursor: String?
        repeat {
            let page = try await chat.groups(RecordList(limit: limits.pageMost, cursor: cursor))
            names += page.items.filter { !$0.channels.isEmpty }.map(\.id)
            cursor = page.hasMore ? page.cursor : nil
        } while cursor != nil && names.count < Self.namesMost
        let readable = names.filter { request.mayRead(.group, $0) }
        return Self.registered { writer in
            writer.member("namespace", "")
            writer.member("groups", readable)
        }
    }

    private static let namesMost = 10_000

    /// Lists the channels of a group. With the parameter `add` or `remove`, changes the group.
    private func getGroup(_ request: WireRequest) async throws -> Response {
        let keyset = try keyset(of: request, at: 3)
        let group = try Self.group(request)
        let chat = chat(keyset, for: request)
        let adding = try Self.channels(request, "add")
        let removing = try Self.channels(request, "remove")
        guard !adding.isEmpty || !removing.isEmpty else {
            let channels = try await chat.group(group)?.channels ?? []
            return Self.registered { writer in
                writer.member("channels", channels)
                writer.member("group", group)
            }
        }
        guard adding.isEmpty || removing.isEmpty else { throw WireError.unreadable }
        do throws(ChatError) {
            _ = try await chat.write(group: group, .change(adding: adding, removing: removing))
        } catch {
            throw error.slug == "group_full" ? WireError.fullGroup : WireError(error)
        }
        return Self.done
    }

    private func removeGroup(_ request: WireRequest) async throws -> Response {
        let keyset = try keyset(of: request, at: 3)
        try await chat(keyset, for: request).delete(group: try Self.group(request))
        return Self.done
    }

    private static func group(_ request: WireRequest) throws(WireError) -> String {
        guard let name = request.segment(5), !name.contains("*"), (try? Names.check(group: name)) != nil else {
            throw .reservedCharacter
        }
        return name
    }

    private static func channels(_ request: WireRequest, _ name: String) throws(WireError) -> [String] {
        let channels = request.list(name)
        for channel in channels {
            guard channel != ChannelID.systemName, (try? Names.check(channel: channel)) != nil else {
                throw .reservedCharacter
            }
        }
        return channels
    }

    // MARK: Responses

    private static var done: Response {
        .wire { writer in
            writer.beginObject()
            writer.member("status", 200)
            writer.member("message", "OK")
            writer.member("service", "channel-registry")
            writer.member("error", false)
            writer.endObject()
        }
    }

    private static func registered(_ payload: (inout JSONWriter) -> Void) -> Response {
        .wire { writer in
            writer.beginObject()
            writer.member("status", 200)
            writer.key("payload")
            writer.beginObject()
            payload(&writer)
            writer.endObject()
            writer.member("service", "channel-registry")
            writer.member("error", false)
            writer.endObject()
        }
    }
}
