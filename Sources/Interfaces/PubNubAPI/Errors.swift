import ChatModel
import HTTPServer
import JSON

/// The format of a resource's errors. Different resources of PubNub have different error formats.
enum ErrorFamily: Sendable {
    /// `[0,"<text>","<timetoken>"]`
    case publish
    /// An object with the members `message`, `error`, `service` and `status`. The associated value is the text of
    /// `service`.
    case generic(String)
    /// The generic format for subscribe calls. Temporary failures get status 500, because one SDK ends its loop on a
    /// 503 but retries on a 500.
    case subscribe
    case history
    /// The format of `history` without the member `channels`.
    case deletion
    /// The format of `generic` with the number 1 instead of `true` as `error`.
    case presence
    case registry
    /// `{"status":..,"error":{"message":..,"source":..}}`. The associated value is the text of `source`.
    case structured(String)
    /// The format of `structured` with the member `service`. The associated value is the text of `source`.
    case access(String)

    /// True when the resource returns stored records. Printing a page of records takes milliseconds, which is too long
    /// for the event loop.
    var readsRecords: Bool {
        switch self {
        case .publish, .generic, .subscribe, .presence: false
        case .history, .deletion, .registry, .structured, .access: true
        }
    }
}

/// An error of the PubNub API, with PubNub's status code and text. Errors of the lower modules are converted to this
/// type. Clients compare some of the texts byte for byte.
struct WireError: Error, Sendable, Equatable {
    /// One invalid field, for resources whose errors list the invalid fields.
    struct Detail: Sendable, Equatable {
        var message: String
        var location: String
        /// The part of the request: `body`, `query` or `path`.
        var kind: String
    }

    var status: Int
    var text: String
    /// The service that reports the error; nil when the service of the resource reports it. An error with a service has
    /// the format `generic`, except in the family `structured`.
    var service: String?
    /// True for a temporary error, after which the client should retry soon.
    var isPassing = false
    /// True for an invalid argument. The families `history`, `deletion` and `subscribe` each report all invalid
    /// arguments with one text.
    var isArgument = false
    var details: [Detail] = []
    /// True for an error about missing permissions.
    var isAccess = false
    var deniedChannels: [String] = []
    var deniedGroups: [String] = []

    static let invalidSubscribeKey = WireError(
        status: 400, text: "Invalid Subscribe Key", service: "Access Manager")
    static let invalidKey = WireError(status: 400, text: "Invalid Key")
    static let invalidChannel = WireError(status: 400, text: "Invalid Channel")
    static let invalidLabel = WireError(status: 400, text: "Invalid custom_message_type")
    static let invalidJSON = WireError(status: 400, text: "Invalid JSON")
    static let messageTooLarge = WireError(status: 400, text: "Message Too Large")
    static let signalTooLarge = WireError(status: 400, text: "Signal size too large")
    /// The error for an invalid name, number or list in the request.
    static let unreadable = WireError(status: 400, text: "Could Not Parse Request", isArgument: true)
    static let missingUser = WireError(status: 400, text: "Missing uuid")
    static let noState = WireError(status: 400, text: "No state specified.")
    static let reservedCharacter = WireError(status: 400, text: "Reserved character in input parameters.")
    static let unknownPath = WireError(status: 404, text: "Not Found", service: "Balancer")
    static let fullGroup = WireError(status: 400, text: "Maximum channel group count exceeded.")
    /// Malformed filters have status 481, because SDKs check for it.
    static let malformedFilter = WireError(status: 481, text: "Malformed filter expression", service: "Balancer")
}

// MARK: - From errors of the modules below

extension WireError {
    init(_ error: ChatError) {
        switch error.code {
        case .invalid where error.slug == "schema_violation" || error.slug == "undeclared_type":
            self.init(status: 400, text: Self.violation(error))
        case .malformed where error.slug == "bad_filter": self = .malformedFilter
        case .malformed, .invalid: self.init(status: 400, text: error.message, isArgument: true)
        case .tooLarge: self.init(status: 400, text: "Message Too Large")
        case .unauthorized, .forbidden: self.init(status: 403, text: error.message, service: "Access Manager")
        case .notFound: self.init(status: 404, text: error.message)
        case .conflict: self.init(status: 409, text: error.message)
        case .gone: self.init(status: 410, text: error.message)
        case .stale: self.init(status: 412, text: error.message)
        case .tooMany: self.init(status: 429, text: "Too Many Requests", service: "Balancer", isPassing: true)
        case .overloaded, .unavailable, .outcomeUnknown, .storageFull:
            self.init(status: 503, text: "Service Unavailable", service: "Balancer", isPassing: true)
        }
    }

    private static func violation(_ error: ChatError) -> String {
        guard let first = error.faults.first else { return "Schema violation: # \(error.message)" }
        return "Schema violation: \(first.place) \(first.detail)"
    }

    /// Creates the error for a request that the HTTP server rejected before the route's handler ran.
    init(_ problem: Problem) {
        let text =
            switch problem.status {
            case 405: "Method Not Allowed"
            case 413: "Request Entity Too Large"
            case 414: "Request URI Too Long"
            case 429: "Too Many Requests"
            case 500: "Internal Server Error"
            case 503: "Service Unavailable"
            default: problem.detail ?? problem.title
            }
        self.init(status: problem.status, text: text, service: "Balancer", isPassing: problem.status == 503)
    }
}

// MARK: - As a response

extension WireError {
    func response(in family: ErrorFamily, at now: Timetoken) -> Response {
        var error = self
        if case .subscribe = family, status == 503 { (error.status, error.text) = (500, "Internal Server Error") }
        return .wire(error.body(in: family, at: now), status: error.status, retryAfter: isPassing)
    }

    private func body(in family: ErrorFamily, at now: Timetoken) -> [UInt8] {
        if case .structured(let source) = family { return structured(source) }
        if case .access(let source) = family, service == nil { return structured(source, service: "Access Manager") }
        if let service { return generic(service) }
        return switch family {
        case .publish: publish(now)
        case .generic(let service): generic(service)
        case .subscribe: generic("Balancer", isArgument ? Self.unreadable.text : text)
        case .history: history(showsChannels: true)
        case .deletion: history(showsChannels: false)
        case .presence: presence()
        case .registry: registry()
        case .structured(let source), .access(let source): structured(source)
        }
    }

    private func presence() -> [UInt8] {
        JSONText { writer in
            writer.beginObject()
            writer.member("status", status)
            writer.member("error", 1)
            writer.member("message", text)
            writer.member("service", "Presence")
            writer.endObject()
        }.bytes
    }

    private func registry() -> [UInt8] {
        JSONText { writer in
            writer.beginObject()
            writer.member("status", status)
            writer.member("message", text)
            writer.member("service", "channel-registry")
            writer.member("error", true)
            writer.endObject()
        }.bytes
    }

    private func structured(_ source: String, service: String? = nil) -> [UInt8] {
        JSONText { writer in
            writer.beginObject()
            writer.member("status", status)
            if let service { writer.member("service", service) }
            writer.key("error")
            writer.beginObject()
            writer.member("message", textOf(source))
            writer.member("source", source)
            if !details.isEmpty {
                writer.key("details")
                writer.beginArray()
                for detail in details {
                    writer.beginObject()
                    writer.member("message", detail.message)
                    writer.member("location", detail.location)
                    writer.member("locationType", detail.kind)
                    writer.endObject()
                }
                writer.endArray()
            }
            writer.endObject()
            writer.endObject()
        }.bytes
    }

    private func publish(_ now: Timetoken) -> [UInt8] {
        JSONText { writer in
            writer.beginArray()
            writer.integer(0)
            writer.string(text)
            writer.string(now.description)
            writer.endArray()
        }.bytes
    }

    private func textOf(_ source: String) -> String {
        if isAccess, text == Self.denied.text {
            return "Supplied authorization key does not have the permissions required to perform this operation."
        }
        return source == "actions" && self == .invalidSubscribeKey ? "Invalid Subkey" : text
    }

    private func generic(_ service: String, _ text: String? = nil) -> [UInt8] {
        JSONText { writer in
            writer.beginObject()
            writer.member("message", text ?? self.text)
            if !deniedChannels.isEmpty || !deniedGroups.isEmpty {
                writer.key("payload")
                writer.beginObject()
                if !deniedChannels.isEmpty { writer.member("channels", deniedChannels) }
                if !deniedGroups.isEmpty { writer.member("channel-groups", deniedGroups) }
                writer.endObject()
            }
            writer.member("error", true)
            writer.member("service", service)
            writer.member("status", status)
            writer.endObject()
        }.bytes
    }

    private func history(showsChannels: Bool) -> [UInt8] {
        JSONText { writer in
            writer.beginObject()
            writer.member("status", status)
            writer.member("error", true)
            writer.member("error_message", isArgument ? "Invalid Arguments" : text)
            if showsChannels { writer.member("channels", JSONText.emptyObject) }
            writer.endObject()
        }.bytes
    }
}
