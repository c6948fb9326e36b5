import CAssets
import ChatModel
import HTTPServer
import JSON

extension NativeAPI {
    /// `GET /openapi.yaml`: returns the description of this API (media type: RFC 9512).
    func getDescription(_ request: Request) -> Response {
        let file = openapi_description()
        return Response(
            status: 200, headers: [("Content-Type", "application/yaml")],
            body: .fixed(StaticBytes(start: file.bytes, count: file.length)))
    }

    /// `GET /problems`: returns every problem with its code, status, title, cause and remedy, as JSON.
    func getProblems(_ request: Request) -> Response {
        let list = JSONText { writer in
            writer.beginObject()
            writer.key("data")
            writer.beginArray()
            for entry in ProblemCatalogue.entries.sorted(by: { $0.code < $1.code }) {
                writer.beginObject()
                writer.member("code", entry.code)
                writer.member("status", entry.status)
                writer.member("title", entry.title)
                writer.member("cause", entry.cause)
                writer.member("remedy", entry.remedy)
                writer.endObject()
            }
            writer.endArray()
            writer.nullMember("next_cursor")
            writer.member("has_more", false)
            writer.endObject()
        }
        return Response.json(list.bytes)
    }

    /// `GET /problems/{code}`: returns the page about a problem, to which the `type` of the problem points.
    func getProblem(_ request: Request) throws -> Response {
        guard let entry = ProblemCatalogue.entry(path: request.name("code")) else {
            throw ChatError(.notFound, "no problem has this code; GET /problems lists all codes")
        }
        return .text(
            """
            \(entry.title)

            status: \(entry.status)
            code:   \(entry.code)

            Cause
            \(entry.cause)

            Remedy
            \(entry.remedy)

            """)
    }
}
