package import ChatModel
package import HTTPClient
package import JSON

/// The problem document of a failed response (RFC 9457). A member that the document lacks is nil.
package struct Problem: Sendable {
    package let title: String?
    package let detail: String?
    package let code: String?
    package let requestID: String?
    /// The errors in the request's body and parameters; empty when there are none.
    package let faults: [ChatError.FieldError]

    /// Parses the body of a response. Returns nil when it is not JSON.
    package init?(_ body: [UInt8]) {
        guard let document = try? JSONDocument(body, limits: JSONLimits(depth: 64), numbers: .lenient) else {
            return nil
        }
        self.init(document.root)
    }

    /// Reads a problem inside a document, as in the response to a batch.
    package init(_ value: JSONValue) {
        title = value["title"]?.string
        detail = value["detail"]?.string
        code = value["code"]?.string
        requestID = value["request_id"]?.string
        faults = (value["errors"]?.elements ?? []).map { ChatError.FieldError($0) }
    }
}

extension OutboundFailure {
    /// Returns the reason why there was no response from the address `url`, as a sentence without a full stop.
    package func sentence(url: String) -> String {
        switch reason {
        case .connectRefused: "no server accepts connections at \(url)"
        case .dns: "the host name of \(url) cannot be resolved"
        case .connectTimeout: "\(url) did not accept the connection in time"
        case .timeout: "\(url) did not respond in time"
        case .reset: "\(url) closed the connection before the response was complete"
        case .tls: "no secure connection to \(url) could be established: \(detail)"
        case .responseInvalid: "the server at \(url) does not speak HTTP"
        case .requestInvalid: "the request to \(url) cannot be sent: \(detail)"
        case .blockedAddress: "connections to \(url) are not allowed"
        case .cancelled: "the request to \(url) was cancelled"
        case .overloaded: "too many requests are waiting in this process; reduce the number of concurrent requests"
        }
    }
}
