import JSON

/// What became of one line.
struct LineOutcome: Sendable {
    let number: Int
    /// Why it was not emitted; nil when it was.
    let failure: CommandFailure?
    /// For programs.
    let report: JSONText

    /// A line that was not sent.
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

    /// A line that was sent in a request of its own; told as one of a batch.
    static func answered(_ number: Int, _ answer: Answer) -> LineOutcome {
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

    /// A line that was sent, with the gateway's result for it: `{"status":201,…}` or `{"status":422,"problem":{…}}`.
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
