public import ChatModel
import JSON

/// The request to a gateway that an error comes from.
public struct FailedRequest: Sendable, Equatable {
    public let method: String
    /// Without the query.
    public let path: String
    /// The `X-Request-Id` that was sent, and that the gateway has in its log.
    public let id: String

    public init(method: String, path: String, id: String) {
        self.method = method
        self.path = path
        self.id = id
    }
}

extension ChatError {
    private static let names = (method: "request_method", path: "request_path", id: "request_id")

    /// The request that failed; nil for an error that no request to a gateway caused.
    public var request: FailedRequest? {
        guard let method = text(Self.names.method), let path = text(Self.names.path), let id = text(Self.names.id)
        else { return nil }
        return FailedRequest(method: method, path: path, id: id)
    }

    /// The same error with the request it comes from, in its message as well. An error that names one keeps it.
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
