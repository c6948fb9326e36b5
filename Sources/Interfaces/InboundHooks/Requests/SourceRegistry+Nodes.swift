import ChatCore
import ChatModel
import JSON

/// The log of requests on several nodes. A post may reach any node, and each node logs its own posts.
extension SourceRegistry {
    private static let requestsCall = "source.requests"

    func answerCalls() {
        service.nodes.answer(Self.requestsCall) { [weak self] argument in
            guard let self, let app = argument["app"]?.string, let source = argument["source"]?.string else {
                throw Self.unknown
            }
            let key = RecordKey(.source, source, in: AppID(app))
            return JSONText { writer in
                writer.beginObject()
                writer.key("requests")
                writer.beginArray()
                for request in requests.unstoredRequests(of: key) { writer.raw(request.recordBody) }
                writer.endArray()
                writer.endObject()
            }
        }
    }

    /// The requests of a source that all nodes have logged, the newest first, and the answers of the other nodes.
    func allRequests(
        of source: RecordKey
    ) async throws(ChatError) -> (requests: [InboundRequest], answers: NodeAnswers) {
        let own = requests.requests(of: source)
        guard service.nodes.node != 0 else { return (own, NodeAnswers()) }
        let argument = JSONText { writer in
            writer.beginObject()
            writer.member("app", source.app.name)
            writer.member("source", source.id)
            writer.endObject()
        }
        var others: [InboundRequest] = []
        let answers = try await service.nodes.callAll(Self.requestsCall, argument, for: source.app)
        for (_, answer) in answers.all {
            let values = (try? JSONDocument(answer))?.root["requests"]?.elements ?? []
            others += values.compactMap { InboundRequest($0) }
        }
        // Requests whose whole body is logged are stored, so that they need not be sent between nodes.
        var query = RecordQuery(.inboundRequest, in: source.app, limit: 8)
        query.parent = source.id
        try await directory.forEachPage(query) { others += $0.compactMap { InboundRequest($0) } }
        let known = Set(own.map(\.id))
        return ((own + others.filter { !known.contains($0.id) }).sorted { $0.at > $1.at }, answers)
    }

    /// A request of a source that any node has logged; nil when no node has it.
    ///
    /// - Throws: `.unavailable` when a node that may have it does not answer.
    func request(_ id: String, of source: RecordKey) async throws(ChatError) -> InboundRequest? {
        if let own = requests.requests(of: source).first(where: { $0.id == id }) { return own }
        let (requests, answers) = try await allRequests(of: source)
        if let found = requests.first(where: { $0.id == id }) { return found }
        try answers.requireComplete()
        return nil
    }

    /// Reads the changes of other nodes if a source is not in memory, because another node may have just created it.
    /// Anyone can post to an unknown source, so the posts share the reads of the store.
    func load(_ id: String, in app: String?) async throws(ChatError) {
        guard receiver(id, in: app) == nil, key(of: id, in: app) != nil else { return }
        try await service.catchUp(mirror)
    }
}
