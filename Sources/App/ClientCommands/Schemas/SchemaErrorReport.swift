import JSON
import JSONSchema

/// The errors of a schema, in the forms for output.
struct SchemaErrorReport: Error {
    let file: String
    let problems: [SchemaError.Problem]
    /// One sentence that summarizes the errors.
    let message: String

    init(file: String, problems: [SchemaError.Problem]) {
        self.file = file
        self.problems = problems
        message =
            problems.count == 1 ? "the schema is rejected" : "the schema is rejected for \(problems.count) reasons"
    }

    init(file: String, notJSON error: JSONError) {
        self.file = file
        problems = []
        message = "not JSON: \(error)"
    }

    func printReport(_ sink: Sink) {
        sink.line(sink.style.bad("error: ") + SanitizedText.safe("\(file): \(message)"))
        for problem in problems {
            sink.line(
                "  \(sink.style.name(SanitizedText.safe(problem.pointer)))  \(SanitizedText.safe(problem.detail))")
        }
    }

    /// The problem document (RFC 9457) with which the gateway would reject this schema, without the members that depend
    /// on a request.
    var problem: JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("title", "The schema is rejected")
            writer.member("code", "schema_invalid")
            writer.member("detail", problems.first?.detail ?? message)
            writer.key("errors")
            printProblems(into: &writer)
            writer.endObject()
        }
    }

    func printProblems(into writer: inout JSONWriter) {
        writer.beginArray()
        for problem in problems {
            writer.beginObject()
            writer.member("pointer", problem.pointer)
            writer.member("reason", problem.reason.rawValue)
            writer.member("detail", problem.detail)
            if let location = problem.keywordLocation { writer.member("keywordLocation", location) }
            if let location = problem.absoluteKeywordLocation { writer.member("absoluteKeywordLocation", location) }
            writer.endObject()
        }
        writer.endArray()
    }
}
