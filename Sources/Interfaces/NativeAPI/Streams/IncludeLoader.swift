import ChatCore
import ChatModel
import HTTPServer

/// Reads the objects included with events on streams and polls. The objects of an event that has several receivers are
/// read once.
///
/// At most one read per app is in progress. Requests that arrive during a read are combined into the next read, so an
/// event for thousands of streams costs one read. The actor runs on the loop, like its callers.
actor IncludeLoader {
    /// A completion handler. It is called on the loop with the objects of each event, in the order of the events.
    typealias Answer = @Sendable (Result<[RenderedIncludes], ChatError>) -> Void

    private struct Question {
        let events: [Event]
        let inclusion: IncludePolicy
        let answer: Answer
    }

    private let service: ChatService
    private let loop: Loop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private var waiting: [AppID: [Question]] = [:]
    /// The apps for which a read is in progress or scheduled.
    private var reading: Set<AppID> = []
    /// The number of reads since the start.
    private(set) var count: UInt64 = 0

    init(service: ChatService, loop: Loop) {
        self.service = service
        self.loop = loop
    }

    /// Reads the objects included with an app's events. The handlers of several requests are called in the order of the
    /// requests.
    func read(_ events: [Event], _ inclusion: IncludePolicy, in app: AppID, _ answer: @escaping Answer) {
        waiting[app, default: []].append(Question(events: events, inclusion: inclusion, answer: answer))
        guard reading.insert(app).inserted else { return }
        // The read starts after the hub has sent the current events to all feeds, because other feeds request the same
        // objects.
        loop.post { self.assumeIsolated { $0.readNext(app) } }
    }

    private func readNext(_ app: AppID) {
        guard let questions = waiting.removeValue(forKey: app) else {
            reading.remove(app)
            return
        }
        count += 1
        Task {
            let results = await Self.results(of: questions, in: app, from: service)
            for (question, result) in zip(questions, results) { question.answer(result) }
            readNext(app)
        }
    }

    @concurrent
    private static func results(
        of questions: [Question], in app: AppID, from service: ChatService
    ) async -> [Result<[RenderedIncludes], ChatError>] {
        do throws(ChatError) {
            let wanted = questions.lazy.flatMap { question in
                question.events.lazy.map { (event: $0, objects: question.inclusion.objects) }
            }
            var records = try await IncludedRecords(of: wanted, in: app, from: service)
            var results: [Result<[RenderedIncludes], ChatError>] = []
            results.reserveCapacity(questions.count)
            for question in questions {
                var texts: [RenderedIncludes] = []
                texts.reserveCapacity(question.events.count)
                for event in question.events { texts.append(try await records.text(beside: event, question.inclusion)) }
                results.append(.success(texts))
            }
            return results
        } catch {
            return questions.map { _ in .failure(error) }
        }
    }
}
