import CAssets
import ChatModel
import HTTPServer

extension NativeAPI {
    /// `GET /openapi.yaml` (media type: RFC 9512)
    func getDescription(_ request: Request) -> Response {
        let file = openapi_description()
        return Response(
            status: 200, headers: [("Content-Type", "application/yaml")],
            body: .fixed(StaticBytes(start: file.bytes, count: file.length)))
    }

    /// `GET /problems/{code}`: what the `type` of a problem points at, for people.
    func getProblem(_ request: Request) throws -> Response {
        guard let entry = ProblemCatalogue.entry(path: request.name("code")) else {
            throw ChatError(.notFound, "no such problem")
        }
        return .text("\(entry.title)\n\nstatus: \(entry.status)\ncode:   \(entry.code)\n\n\(entry.meaning)\n")
    }
}
