import ChatCore
import ChatModel
import HTTPServer

/// Reads the objects that streams and polls get beside events, once for all who are handed the same events.
///
/// One read of an app is under way at a time. What is asked for meanwhile is read together by the next one, so that an event
/// for thousands of streams costs one read. An actor on the loop, like everybody who asks.
actor IncludeLoader {
    /// Called on the loop with the objects of each event, in the order of the events.
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
    /// The apps of which a read is under way, or about to begin.
    private var reading: Set<AppID> = []
    /// Reads since the start.
    private(set) var count: UInt64 = 0

    init(service: ChatService, loop: Loop) {
        self.service = service
        self.loop = loop
    }

    /// Reads the objects beside events of an app that are handed out now. Answers come in the order of the questions.
    func read(_ events: [Event], _ inclusion: IncludePolicy, in app: AppID, _ answer: @escaping Answer) {
        waiting[app, default: []].append(Question(events: events, inclusion: inclusion, answer: answer))
        guard reading.insert(app).inserted else { return }
        // Behind the turn of the hub, in which others ask for the same.
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
