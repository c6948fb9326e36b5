import ChatCore
import ChatModel
import HTTPServer
import JSON

extension NativeAPI {
    /// The response with one record. It has the record's version as `ETag` and, if the request created the record,
    /// `Location`.
    static func response(
        etag: String, createdAt location: String? = nil, _ print: (inout JSONWriter) -> Void
    ) -> Response {
        let created = location.map { [(name: "Location", value: $0)] } ?? []
        return .json(
            JSONText { print(&$0) }.bytes, status: location == nil ? 200 : 201,
            headers: [(name: "ETag", value: EntityTag.quoted(etag))] + created)
    }

    /// The response to a `DELETE`: no content.
    ///
    /// - Throws: `.notFound` when `wasThere` is false, because there was nothing to remove.
    static func removed(
        _ wasThere: Bool, _ detail: @autoclosure () -> String, slug: String? = nil
    ) throws(ChatError) -> Response {
        guard wasThere else { throw ChatError(.notFound, detail(), slug: slug) }
        return .empty()
    }

    /// The precondition for the record that a request writes: from `If-Match`, or from `If-None-Match: *`, which
    /// requires that the record does not exist (RFC 9110, 13.1).
    static func precondition(
        of request: Request, current: () async throws -> String?
    ) async throws -> RecordChange.Precondition {
        if request.headers[all: "If-None-Match"].contains("*") { return .absent }
        return try await Precondition(request.headers).precondition {
            do {
                return try await current()
            } catch let error as ChatError where error.code == .notFound {
                return nil
            }
        }
    }

    /// Runs a write that has a precondition. If the precondition is `If-None-Match: *`, the error `.conflict` of the
    /// write is replaced by `.stale`, because the record already exists.
    static func meeting<Value>(
        _ precondition: RecordChange.Precondition, _ write: () async throws(ChatError) -> Value
    ) async throws(ChatError) -> Value {
        do throws(ChatError) {
            return try await write()
        } catch {
            guard case .absent = precondition, error.code == .conflict else { throw error }
            throw ChatError(.stale, "the resource already exists, but If-None-Match: * requires that it does not")
        }
    }
}

/// The parameters of lists of records.
struct RecordListing {
    private static let parameterNames = Listing.timedNames + ["filter", "sort", "total"]

    let list: RecordList

    /// Reads the query of a request for a list of records.
    init(_ request: Request, limits: Limits) throws(ChatError) {
        let parameters = try Parameters(request.query, known: Self.parameterNames)
        var list = try Listing(parameters, of: request, limits: limits).list
        list.filter = try parameters.text("filter")
        list.sort = parameters.texts("sort")
        list.wantsTotal = try parameters.flag("total")
        guard list.sort.count <= 4 else {
            throw Parameters.bad("sort", "may be sent at most four times", keyword: "repeated")
        }
        self.list = list
    }
}
