import GatewayClient
import JSON

/// The outcome of one line.
struct LineOutcome: Sendable {
    let number: Int
    /// The reason why the line was not emitted; nil when it was emitted.
    let failure: CommandFailure?
    /// The outcome as JSON.
    let report: JSONText

    /// Returns the outcome of a line that was not sent.
    static func refused(_ number: Int, _ reason: String) -> LineOutcome {
        LineOutcome(
            number: number, failure: CommandFailure(reason),
            report: JSONText { writer in
                writer.beginObject()
                writer.member("line", number)
                writer.member("error", reason)
                writer.endObject()
            })
    }

    /// Returns the outcome of a line that was sent in a separate request. The outcome has the same form as the outcome
    /// of a line in a batch.
    static func answered(_ number: Int, _ answer: GatewayResponse) -> LineOutcome {
        let isEmitted = (200..<300).contains(answer.status)
        let members = answer.document?.text.rawMembers() ?? []
        let report = JSONText { writer in
            writer.beginObject()
            writer.member("line", number)
            writer.member("status", answer.status)
            if isEmitted {
                for (name, value) in members {
                    writer.key(text: name)
                    writer.raw(value)
                }
            } else if let problem = answer.document?.text {
                writer.member("problem", problem)
            }
            writer.endObject()
        }
        let failure = isEmitted ? nil : ProblemDescription.failure(answer.document?.root, status: answer.status)
        return LineOutcome(number: number, failure: failure, report: report)
    }

    /// Returns the outcome of a line from its result in a batch: `{"status":201,…}` or `{"status":422,"problem":{…}}`.
    static func answered(_ number: Int, _ result: JSONValue, _ text: JSONText) -> LineOutcome {
        let status = Int(result["status"]?.integer ?? 0)
        let isEmitted = (200..<300).contains(status)
        return LineOutcome(
            number: number,
            failure: isEmitted ? nil : ProblemDescription.failure(result["problem"], status: status),
            report: JSONText(capacity: text.count + 24) { writer in
                writer.beginObject()
                writer.member("line", number)
                for (name, value) in text.rawMembers() ?? [] {
                    writer.key(text: name)
                    writer.raw(value)
                }
                writer.endObject()
            })
    }
}
