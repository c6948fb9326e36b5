public import ChatModel
import JSON

/// The request to a gateway that caused an error.
public struct FailedRequest: Sendable, Equatable {
    /// The HTTP method.
    public let method: String
    /// The path, without the query.
    public let path: String
    /// The `X-Request-Id` that was sent. The gateway's log contains it.
    public let id: String

    /// Creates a failed request.
    public init(method: String, path: String, id: String) {
        self.method = method
        self.path = path
        self.id = id
    }
}

extension ChatError {
    private static let names = (method: "request_method", path: "request_path", id: "request_id")

    /// The request that failed, or nil when no request to a gateway caused the error.
    public var request: FailedRequest? {
        guard let method = text(Self.names.method), let path = text(Self.names.path), let id = text(Self.names.id)
        else { return nil }
        return FailedRequest(method: method, path: path, id: id)
    }

    /// Returns the error with the request added to it and to its message. An error that already has a request is
    /// returned unchanged.
    package func caused(by request: FailedRequest) -> ChatError {
        guard self.request == nil else { return self }
        var error = self
        error.message += " (\(request.method) \(request.path), request \(request.id))"
        error.members += [
            (Self.names.method, JSONText(string: request.method)), (Self.names.path, JSONText(string: request.path)),
            (Self.names.id, JSONText(string: request.id)),
        ]
        return error
    }

    func text(_ name: String) -> String? {
        members.first { $0.name == name }.flatMap { AnyJSON($0.value).string }
    }
}
