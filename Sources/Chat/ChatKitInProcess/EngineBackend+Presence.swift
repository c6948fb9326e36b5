import ChatCore
public import ChatKit
public import ChatModel
import JSON

extension EngineBackend {
    public func setTyping(_ isTyping: Bool, in channel: String) async throws(ChatError) {
        if isTyping {
            try await access.startTyping(user, on: channel)
        } else {
            try await access.stopTyping(user, on: channel)
        }
    }

    public func typists(of channel: String, limit: Int, cursor: String?) async throws(ChatError) -> Page<String> {
        let page = try await access.typists(of: channel, after: cursor, limit: limit)
        return Page(items: page.items.map(\.id), hasMore: page.hasMore, cursor: page.cursor, total: page.total)
    }

    public func appear(in channel: String, for seconds: Int?, state: AnyJSON?) async throws(ChatError) {
        _ = try await access.appear(user, on: channel, for: seconds.map { .seconds($0) }, state: state?.text)
    }

    public func disappear(from channel: String) async throws(ChatError) {
        try await access.disappear(user, from: channel)
    }

    public func show(_ state: AnyJSON, in channel: String) async throws(ChatError) {
        try await access.show(state.text, as: user, on: channel)
    }

    public func present(in channel: String, limit: Int, cursor: String?) async throws(ChatError) -> Page<PresentUser> {
        try await access.occupants(of: channel, after: cursor, limit: limit).page { PresentUser($0) }
    }

    public func presence(of user: String, in channel: String) async throws(ChatError) -> PresentUser? {
        try await access.occupant(user, of: channel).map { PresentUser($0) }
    }

    public func presentChannels(of user: String) async throws(ChatError) -> [String] {
        try await access.presentChannels(of: user)
    }

    public func enter(_ channel: String) async throws(ChatError) -> Int {
        try await access.enter(user, into: channel).count
    }

    public func exit(_ channel: String) async throws(ChatError) { try await access.exit(user, from: channel) }

    public func participants(of channel: String, limit: Int, cursor: String?) async throws(ChatError) -> Page<String> {
        try await access.participants(of: channel, after: cursor, limit: limit).page(\.user)
    }
}

extension Occupancy {
    /// Returns the occupants as a page. The cursor is the last name on the page.
    fileprivate func page<Item: Sendable>(_ transform: (Occupant) -> Item) -> Page<Item> {
        Page(
            items: occupants.map(transform), hasMore: hasMore, cursor: hasMore ? occupants.last?.user : nil,
            total: count)
    }
}

extension PresentUser {
    fileprivate init(_ occupant: Occupancy.Occupant) {
        self.init(userId: occupant.user, state: occupant.state.map { AnyJSON($0) } ?? .object([:]))
    }
}
