public import ChatModel
public import JSON
import Locking
import Signing

/// Calls between the nodes that share a store. A node answers from its memory, for example about a stream whose
/// connection it holds.
///
/// A call is a record, and so is its answer. Nodes see each other's records through the directory, so they need no
/// connection to each other. A call costs three commits, so emits and polls make none. Calls are made for streams,
/// sessions and tickets of another node, and for what nodes have in memory about webhooks and sources. Without other
/// nodes, no record is written.
public final class NodeCalls: Sendable {
    /// Answers the calls of one name.
    public typealias Handler = @Sendable (_ argument: JSONValue) async throws -> JSONText

    /// The maximum time for which a call waits for its answer. A node that lives answers within half a second.
    static let patience: Duration = .seconds(3)
    /// The maximum number of calls of this node that wait for answers, and of received calls that are not read yet. A
    /// call of all nodes counts once.
    static let most = 256
    /// The maximum number of calls for one app that wait for answers.
    static let mostOfApp = 64
    /// The interval between two removals of leftover records.
    static let sweepInterval: Duration = .seconds(60)
    /// The minimum ages of the records that a node may leave behind when it stops, or when a call fails. A stream ticket
    /// resumes its stream for an hour, and a device its session for two minutes.
    private static let leftovers: [(kind: RecordKind, age: Duration)] = [
        (.nodeCall, .seconds(60)), (.nodeAnswer, .seconds(60)), (.streamTicket, .seconds(3600)),
        (.deviceSession, .seconds(600)),
    ]

    private struct State {
        var handlers: [String: Handler] = [:]
        /// The calls that wait, by the ids of their answers. The value is signalled when the answer is stored.
        var waiting: [String: AsyncStream<Void>.Continuation] = [:]
        /// The numbers of calls that wait, by the app that they are for.
        var calls: [AppID: Int] = [:]
    }

    private let engine: any Engine
    private let clock: WallClock
    private let patience: Duration
    private let sweepInterval: Duration
    private let state = Lock(State())
    private let received: AsyncStream<String>
    private let receiver: AsyncStream<String>.Continuation

    init(
        engine: any Engine, clock: WallClock, patience: Duration = NodeCalls.patience,
        sweepInterval: Duration = NodeCalls.sweepInterval
    ) {
        self.engine = engine
        self.clock = clock
        self.patience = patience
        self.sweepInterval = sweepInterval
        // Calls beyond the limit are dropped. Their callers then report that the node does not answer.
        (received, receiver) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(Self.most))
        engine.directory.observe { [weak self] changes in
            for key in changes.keys where key.app == .gateway { self?.observe(key) }
        }
    }

    /// The number of this node; zero when no other process can share the store.
    public var node: Int64 { engine.node }

    /// Sets the handler of the calls of a name. Called before ``run()``.
    public func answer(_ name: String, _ handler: @escaping Handler) {
        state.withLock { $0.handlers[name] = handler }
    }

    // MARK: Calling

    /// Calls another node.
    ///
    /// - Parameter app: the app that the call is for. The number of waiting calls is limited for each app.
    /// - Returns: the answer; nil when the node has stopped.
    /// - Throws: the error of the node's handler; `.unavailable` when the node does not answer in time; `.overloaded` when
    ///   too many calls wait; the errors of the store.
    public func call(
        _ name: String, of node: Int64, _ argument: JSONText, for app: AppID
    ) async throws(ChatError) -> JSONText? {
        guard node != self.node, try await engine.otherNodes().contains(node) else { return nil }
        try enter(app)
        defer { leave(app) }
        if let answer = try await ask(node, name, argument) { return try answer.get() }
        guard try await engine.otherNodes().contains(node) else { return nil }
        throw NodeAnswers.missing
    }

    /// Calls all other nodes at the same time.
    ///
    /// - Parameter app: the app that the call is for. The number of waiting calls is limited for each app.
    /// - Returns: the answers of the nodes that have answered in time, without those that answered with `.notFound`.
    /// - Throws: `.overloaded` when too many calls wait; the errors of the store.
    public func callAll(
        _ name: String, _ argument: JSONText, for app: AppID
    ) async throws(ChatError) -> NodeAnswers {
        let nodes = try await engine.otherNodes()
        guard !nodes.isEmpty else { return NodeAnswers() }
        try enter(app)
        defer { leave(app) }
        let results = await withTaskGroup { group in
            for node in nodes {
                group.addTask { (node: node, result: try? await self.ask(node, name, argument)) }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        var answers = NodeAnswers()
        var silent: Set<Int64> = []
        for (node, result) in results.sorted(by: { $0.node < $1.node }) {
            switch result {
            case .success(let answer): answers.all.append((node, answer))
            case .failure(let error) where error.code == .notFound: break
            case .failure, nil: silent.insert(node)
            }
        }
        // A node that has stopped has nothing in memory any more.
        if !silent.isEmpty { answers.isPartial = !silent.isDisjoint(with: try await engine.otherNodes()) }
        return answers
    }

    private func enter(_ app: AppID) throws(ChatError) {
        let isAdmitted = state.withLock { state in
            let calls = state.calls[app, default: 0]
            guard calls < Self.mostOfApp, state.calls.values.reduce(0, +) < Self.most else { return false }
            state.calls[app] = calls + 1
            return true
        }
        guard isAdmitted else {
            throw ChatError(
                .overloaded, "too many requests wait for other nodes; try again later", retryAfter: .seconds(1))
        }
    }

    private func leave(_ app: AppID) {
        state.withLock { state in
            let calls = state.calls[app, default: 0]
            state.calls[app] = calls > 1 ? calls - 1 : nil
        }
    }

    /// Stores a call and waits for its answer. Nil when the node does not answer in time.
    private func ask(
        _ node: Int64, _ name: String, _ argument: JSONText
    ) async throws(ChatError) -> Result<JSONText, ChatError>? {
        let id = SystemRandomSource().token(prefix: "", bytes: 12)
        let (answered, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let answer = RecordKey(.nodeAnswer, parts: [String(self.node), id], in: .gateway)
        state.withLock { $0.waiting[answer.id] = continuation }
        defer { _ = state.withLock { $0.waiting.removeValue(forKey: answer.id) } }
        let call = RecordKey(.nodeCall, parts: [String(node), id], in: .gateway)
        let body = JSONText { writer in
            writer.beginObject()
            writer.member("name", name)
            writer.member("answer", answer.id)
            writer.member("argument", argument)
            writer.endObject()
        }
        _ = try await engine.directory.write([RecordChange(call, body: body, precondition: .absent)])
        await wait(for: answered)
        let records = try await engine.directory.read([answer, call])
        // A call that was not answered is removed, so that it has no effect later.
        let leftover = [(answer, records[0]), (call, records[1])].filter { $0.1 != nil }
        if !leftover.isEmpty {
            _ = try await engine.directory.write(leftover.map { RecordChange($0.0, body: nil) })
        }
        return records[0].flatMap { CallAnswer.result(of: $0) }
    }

    private func wait(for answered: AsyncStream<Void>) async {
        await withTaskGroup { group in
            group.addTask { for await _ in answered { break } }
            // The sleep ends early when the answer has arrived.
            group.addTask { [patience] in try? await Task.sleep(for: patience) }
            await group.next()
            group.cancelAll()
        }
    }

    // MARK: Answering

    private func observe(_ key: RecordKey) {
        switch key.kind {
        case .nodeCall:
            if key.id.hasPrefix(RecordKey.prefix([String(node)])) { receiver.yield(key.id) }
        case .nodeAnswer: state.withLock { $0.waiting[key.id] }?.yield()
        default: break
        }
    }

    /// Answers the calls of other nodes until the task is cancelled.
    func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.keepRemovingLeftovers() }
            // Each node limits its waiting calls, so the number of these tasks is limited too.
            for await id in received {
                // The caller learns of a failure by the missing answer.
                group.addTask { try? await self.answer(RecordKey(.nodeCall, id, in: .gateway)) }
            }
        }
    }

    private func answer(_ call: RecordKey) async throws(ChatError) {
        guard let record = try await engine.directory.read(call), let document = try? JSONDocument(record.body),
            let name = document.root["name"]?.string, let argument = document.root["argument"],
            let answer = document.root["answer"]?.string, let handler = state.withLock({ $0.handlers[name] })
        else { return }
        let body: JSONText
        do {
            body = CallAnswer.body(of: .success(try await handler(argument)))
        } catch {
            body = CallAnswer.body(of: .failure(error as? ChatError ?? ChatError(.unavailable, "the node failed")))
        }
        // Both or neither: the caller removes a call for whose answer it no longer waits.
        _ = try await engine.directory.write([
            RecordChange(call, body: nil, precondition: .present),
            RecordChange(RecordKey(.nodeAnswer, answer, in: .gateway), body: body, precondition: .absent),
        ])
    }

    /// Removes the records that nodes have left behind, until the task is cancelled. Every node does so.
    private func keepRemovingLeftovers() async {
        while !Task.isCancelled {
            try? await removeLeftovers()  // the next round repeats
            try? await Task.sleep(for: sweepInterval)  // the loop's condition checks for cancellation
        }
    }

    private func removeLeftovers() async throws(ChatError) {
        for (kind, age) in Self.leftovers {
            let edge = clock.now.adding(.zero - age)
            var query = RecordQuery(kind, in: .gateway, limit: 100)
            // The number is rounded, so the times are compared again.
            query.filter = .compare(field: "@updated", .lessOrEqual, .number(Double(edge.rawValue)))
            try await engine.directory.forEachPage(query) { records throws(ChatError) in
                let old = records.filter { $0.updated < edge }
                guard !old.isEmpty else { return }
                _ = try await engine.directory.write(old.map { RecordChange($0.key, body: nil) })
            }
        }
    }
}
