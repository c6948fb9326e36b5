import ChatKit
import HTTPClient
import JSON
import TestSupport
import Testing

/// A listening device, named after its user.
enum Ear: String, CaseIterable, Sendable {
    /// Devices of `ana`, who created the channels and acts on her phone.
    case phone, tablet
    /// A member of `crew` who is inside `lobby`.
    case ben
    /// Users who are invited to `crew`.
    case cleo, dora
    /// Unrelated users. `zoe` has no record.
    case eve, zoe

    var user: String {
        switch self {
        case .phone, .tablet: "ana"
        case .ben, .cleo, .dora, .eve, .zoe: rawValue
        }
    }
}

/// The setting of the event tables: a group `crew`, an open channel `lobby`, and users with devices.
struct Stage: Sendable {
    let backends: [Ear: any ChatBackend]
    /// The gateway's address, if there is a gateway.
    private let url: String?
    private let chats: [Ear: Chat]
    private let gus: Chat

    /// Runs a scene on a new stage.
    static func play(_ way: MatchStrategy, _ scene: @escaping @Sendable (Stage) async throws -> Void) async throws {
        try await way.withBackend { backend, url in try await scene(try await Stage(backend, url)) }
    }

    private init(_ phone: any ChatBackend, _ url: String?) async throws {
        self.url = url
        var backends: [Ear: any ChatBackend] = [:]
        var chats: [Ear: Chat] = [:]
        for ear in Ear.allCases {
            let backend = ear == .phone ? phone : phone.acting(as: ear.user)
            backends[ear] = backend
            if ear != .zoe { chats[ear] = try await Chat(backend) }
        }
        self.backends = backends
        self.chats = chats
        gus = try await Chat(phone.acting(as: "gus"))
        try await build()
    }

    private func build() async throws {
        let ana = try chat(.phone)
        let users = [try chat(.ben), try chat(.cleo), try chat(.dora)].map(\.currentUser)
        _ = try await ana.createGroupConversation(invitedUsers: users, channelId: "crew")
        try await chat(.ben).channel("crew").join()
        _ = try await ana.createChannel(id: "lobby", type: .open)
        try await ana.channel("lobby").enter()
        try await chat(.ben).channel("lobby").enter()
        _ = try await gus.createChannel(id: "fence", type: .open)
        for ear in Ear.allCases { _ = try await backends[ear]?.enter("fence") }
    }

    func chat(_ ear: Ear) throws -> Chat { try #require(chats[ear]) }
    func crew(_ ear: Ear = .phone) throws -> Channel { try chat(ear).channel("crew") }
    func lobby(_ ear: Ear = .phone) throws -> Channel { try chat(ear).channel("lobby") }

    /// Sends a message and returns it.
    func message(_ text: String = "hi", in channel: Channel, by ear: Ear = .phone) async throws -> Message {
        let timetoken = try await chat(ear).channel(channel.id).sendText(text)
        return try #require(try await channel.getMessage(timetoken: timetoken))
    }

    /// A webhook for the events of a type; nil in the program's own process, which has no webhooks.
    func webhook(for type: String) async throws -> ScriptedServer? {
        guard let url else { return nil }
        let receiver = try ScriptedServer()
        let client = try Client(options: ClientOptions(addressGuard: .disabled))
        let hook = AnyJSON.object(["url": .string(receiver.url()), "types": [.string(type)]])
        let answer = await client.send(
            OutboundRequest(
                method: "POST", url: url + "/v1/webhooks",
                headers: [("Authorization", "Bearer dev"), ("Content-Type", "application/json")], body: hook.text.bytes)
        )
        await client.shutdown()
        #expect(answer.status == 201)
        return receiver
    }

    /// Sends an event that every device receives, after all earlier events.
    func fence() async throws { try await gus.channel("fence").sendText("fence") }
}

/// Collects the events of a selection.
final class Listening: Sendable {
    private let events: AsyncStream<Event>
    private let connected: AsyncStream<Never>
    private let task: Task<Void, Never>

    init(_ backend: any ChatBackend, _ selection: EventSelection) {
        let (events, told) = AsyncStream.makeStream(of: Event.self)
        let (connected, isConnected) = AsyncStream.makeStream(of: Never.self)
        self.events = events
        self.connected = connected
        task = Task {
            // After the end of the sequence, a waiting reader receives no event.
            try? await Self.follow(backend, selection, told, isConnected)
            isConnected.finish()
            told.finish()
        }
    }

    /// Listens as a device of the backend's user.
    static func device(of backend: any ChatBackend) async -> Listening {
        var selection = EventSelection()
        selection.isDevice = true
        let listening = Listening(backend, selection)
        for await _ in listening.connected {}
        return listening
    }

    /// Listens to all events.
    static func all(of backend: any ChatBackend) async -> Listening {
        var selection = EventSelection()
        selection.hasPresence = true
        let listening = Listening(backend, selection)
        for await _ in listening.connected {}
        return listening
    }

    private static func follow(
        _ backend: any ChatBackend, _ selection: EventSelection, _ told: AsyncStream<Event>.Continuation,
        _ connected: AsyncStream<Never>.Continuation
    ) async throws {
        for try await update in backend.events(selection) {
            switch update {
            case .connected: connected.finish()
            case .events(let batch, _): for event in batch { told.yield(event.event) }
            case .interrupted, .channelsChanged: break
            }
        }
    }

    /// Waits for a matching event; nil when the sequence has ended.
    func first(_ isWanted: (Event) -> Bool) async -> Event? {
        for await event in events where isWanted(event) { return event }
        return nil
    }

    /// True when a matching event arrives before the fence.
    func hears(_ isWanted: (Event) -> Bool) async -> Bool {
        let event = await first { isWanted($0) || $0.channel.name == "fence" }
        return event.map(isWanted) ?? false
    }

    func close() { task.cancel() }

    deinit { task.cancel() }
}
