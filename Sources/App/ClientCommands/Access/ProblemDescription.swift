package import HTTPClient
package import JSON

/// Describes failed responses to the user.
package enum ProblemDescription {
    /// Creates a sentence from a problem document (RFC 9457), with its errors as details. Any other body is described
    /// by its status: the HTML page of a proxy helps nobody.
    ///
    /// - Parameter credential: the source of the credential.
    package static func failure(
        status: Int, body: [UInt8], credential: String = "PARLEY_KEY"
    ) -> CommandFailure {
        guard let problem = try? JSONDocument(body, limits: JSONLimits(depth: 64), numbers: .lenient).root,
            let title = problem["title"]?.string ?? problem["detail"]?.string
        else { return CommandFailure(foreign(status, credential)) }
        return failure(problem, title: title, status: status, credential)
    }

    /// Does the same for a problem inside a response, as in batches.
    package static func failure(_ problem: JSONValue?, status: Int) -> CommandFailure {
        guard let problem, let title = problem["title"]?.string ?? problem["detail"]?.string else {
            return CommandFailure(foreign(status))
        }
        return failure(problem, title: title, status: status)
    }

    private static func failure(
        _ problem: JSONValue, title: String, status: Int, _ credential: String = "PARLEY_KEY"
    ) -> CommandFailure {
        let detail = problem["detail"]?.string
        var sentence = title
        if let detail, detail != title { sentence += ": \(detail)" }
        sentence += " (\(status)\(problem["code"]?.string.map { " \($0)" } ?? ""))"
        if status == 401 { sentence += "; check \(credential)" }
        var details = (problem["errors"]?.elements ?? []).map(fault)
        if status >= 500, let request = problem["request_id"]?.string { details.append("request \(request)") }
        return CommandFailure(sentence, details: details)
    }

    private static func fault(_ fault: JSONValue) -> String {
        let place = fault["pointer"]?.string ?? fault["parameter"]?.string
        let text = fault["detail"]?.string ?? fault["keyword"]?.string ?? "is wrong"
        return place.map { "\($0): \(text)" } ?? text
    }

    private static func foreign(_ status: Int, _ credential: String = "PARLEY_KEY") -> String {
        switch status {
        case 300..<400: "the address answered with a redirect (\(status)); PARLEY_URL must be the gateway's own address"
        case 401: "the gateway does not accept the key (401); check \(credential)"
        case 404: "not found (404); check that PARLEY_URL is a Parley gateway"
        default: "the gateway answered \(status) without a reason"
        }
    }

    /// Returns the reason why there is no response.
    package static func sentence(_ failure: OutboundFailure, url: String) -> String {
        switch failure.reason {
        case .connectRefused:
            "nothing answers at \(url); check that the gateway runs ('parley serve') and that PARLEY_URL is correct"
        case .dns: "the host of \(url) has no address"
        case .connectTimeout: "\(url) did not accept the connection in time"
        case .timeout: "\(url) did not answer in time"
        case .reset: "\(url) closed the connection before its answer was complete"
        case .tls: "no trusted connection to \(url): \(failure.detail)"
        case .responseInvalid: "the server at \(url) does not speak HTTP"
        case .requestInvalid: "the request to \(url) cannot be sent: \(failure.detail)"
        case .blockedAddress: "connections to \(url) are not allowed"
        case .cancelled: "the request to \(url) was cancelled"
        case .overloaded: "too many requests are waiting in this process"
        }
    }
}
