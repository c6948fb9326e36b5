import ChatCore
import ChatModel
import HTTPServer
import JSON
import Locking

extension NativeAPI {
    /// `POST /v1/import`: imports records and messages in the order of the body. The response contains a problem for
    /// each rejected record. The other records are imported nevertheless.
    func postImport(_ request: Request, _ caller: Caller) async throws -> Response {
        // Runs off the loop, because even a short body may contain hundreds of records.
        try await asLongWork { try await answerImport(request, caller) }
    }

    private func answerImport(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try Fields(request.body.bytes, limits: limits, known: ["replace", "records"])
        guard let records = fields.member("records") else { throw fields.missing("member 'records'") }
        let isReplacing = try fields.boolean("replace") ?? false
        let elements = try BatchElements(records.text, pointer: "#/records", limits: limits)
        let chat = service.chat(for: caller, cause: request.id)
        var results: [Result<ImportResult, ChatError>] = []
        // Consecutive messages are stored in one commit.
        var messages: [ImportMessage] = []
        for element in elements {
            do throws(ChatError) {
                switch try ImportedRecord(element) {
                case .message(let message): messages.append(message)
                case .record(let record):
                    results += try await chat.move(messages)
                    messages = []
                    results.append(await Self.moved(record, isReplacing, chat))
                }
            } catch {
                results += try await chat.move(messages)
                messages = []
                results.append(.failure(error))
            }
        }
        results += try await chat.move(messages)
        return try answer(results, request)
    }

    private static func moved(
        _ record: ImportRecord, _ isReplacing: Bool, _ chat: ChatAccess
    ) async -> Result<ImportResult, ChatError> {
        do throws(ChatError) {
            return .success(try await chat.move(record, isReplacing: isReplacing))
        } catch {
            return .failure(error)
        }
    }

    /// Returns the response with the result of each record, in the order of the request.
    ///
    /// - Throws: an error that concerns the whole request and not a single record. The client can then send the request
    ///   again.
    private func answer(_ results: [Result<ImportResult, ChatError>], _ request: Request) throws -> Response {
        var writer = JSONWriter(capacity: results.count * 64 + 32)
        writer.beginObject()
        writer.key("results")
        writer.beginArray()
        for (index, result) in results.enumerated() {
            writer.beginObject()
            switch result {
            case .success(let moved):
                writer.member("status", moved.isNew ? 201 : 200)
                if let place = moved.place {
                    writer.member("timetoken", place.description)
                    writer.member("attached", moved.attached)
                }
            case .failure(let error):
                if error.isOfEverything { throw error }
                let problem = Problem(error.faults.isEmpty ? error.placed(at: "#/records/\(index)") : error)
                writer.member("status", problem.status)
                writer.member("problem", JSONText(trusted: problem.body(baseURL: publicURL, requestID: request.id)))
            }
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return .json(writer.bytes)
    }
}

extension ChatError {
    /// True when the error concerns the whole request and not a single record.
    fileprivate var isOfEverything: Bool {
        switch code {
        case .unauthorized, .overloaded, .unavailable, .outcomeUnknown, .storageFull: true
        case .malformed, .forbidden, .notFound, .conflict, .gone, .stale, .tooLarge, .invalid, .tooMany: false
        }
    }
}
