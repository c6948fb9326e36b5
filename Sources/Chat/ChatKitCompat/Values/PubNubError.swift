import ChatModel
public import FoundationEssentials

/// The error of a call.
public struct PubNubError: LocalizedError, Hashable, Sendable {
    /// The reason of an error. A number above 99 is the HTTP status of the response.
    public enum Reason: Int, Hashable, Codable, Sendable {
        /// A required argument is missing, or an argument is invalid.
        case missingRequiredParameter, invalidArguments
        /// A value cannot be encoded as JSON, or JSON does not have the form of a type.
        case jsonDataEncodingFailure, jsonDataDecodingFailure
        /// The gateway cannot be reached, or it did not respond in time.
        case connectionFailure, timedOut
        /// The client was closed.
        case clientCancelled
        /// The message is larger than the gateway accepts.
        case messageTooLong
        /// The response does not come from a gateway.
        case malformedResponseBody
        case unknown
        case badRequest = 400
        case unauthorized = 401
        case serviceNotEnabled = 402
        case forbidden = 403
        case resourceNotFound = 404
        case conflict = 409
        case preconditionFailed = 412
        case tooManyRequests = 429
        case malformedFilterExpression = 481
        case internalServiceError = 500
        case serviceUnavailable = 503
    }

    /// The reason of the error.
    public let reason: Reason
    /// Descriptions of the error. Each of them names the problem and the correction.
    public let details: [String]

    /// Creates an error, for example in a test.
    public init(_ reason: Reason, details: [String] = []) {
        self.reason = reason
        self.details = details
    }

    init(chat error: ChatError, as reason: Reason? = nil) {
        self.init(reason ?? Reason(error), details: [error.message])
    }

    /// Creates a ``PubNubError`` from any error that occurred in a call.
    init(_ error: any Error) {
        switch error {
        case let error as PubNubError: self = error
        case let error as ChatError: self.init(chat: error)
        default: self.init(.unknown, details: ["\(error)"])
        }
    }

    public var errorDescription: String? { details.isEmpty ? "\(reason)" : details.joined(separator: "; ") }
}

extension PubNubError.Reason {
    fileprivate init(_ error: ChatError) {
        self =
            switch error.code {
            case .malformed: error.slug == "bad_filter" ? .malformedFilterExpression : .badRequest
            case .invalid: .badRequest
            case .unauthorized: .unauthorized
            case .forbidden: .forbidden
            case .notFound: .resourceNotFound
            case .gone: error.slug == nil ? .clientCancelled : .resourceNotFound
            case .conflict: .conflict
            case .stale: .preconditionFailed
            case .tooLarge: .messageTooLong
            case .tooMany, .overloaded: .tooManyRequests
            case .unavailable: error.retryAfter == nil ? .connectionFailure : .serviceUnavailable
            case .outcomeUnknown: .timedOut
            case .storageFull: .internalServiceError
            }
    }
}
