import ChatModel
import GatewayClient
package import HTTPClient
package import JSON

/// Describes error responses to the user.
package enum ProblemDescription {
    /// Describes a problem document (RFC 9457) as a sentence, with its errors as details. Any other body, such as the
    /// HTML page of a proxy, is ignored, and only the status is described.
    ///
    /// - Parameter credential: the name of the setting with the credential.
    package static func failure(
        status: Int, body: [UInt8], credential: String = "PARLEY_KEY"
    ) -> CommandFailure {
        guard let problem = Problem(body), let title = problem.title ?? problem.detail
        else { return CommandFailure(foreign(status, credential)) }
        return failure(problem, title: title, status: status, credential)
    }

    /// Describes a problem that is a part of a response, as in the response to a batch.
    package static func failure(_ value: JSONValue?, status: Int) -> CommandFailure {
        guard let problem = value.map({ Problem($0) }), let title = problem.title ?? problem.detail else {
            return CommandFailure(foreign(status))
        }
        return failure(problem, title: title, status: status)
    }

    private static func failure(
        _ problem: Problem, title: String, status: Int, _ credential: String = "PARLEY_KEY"
    ) -> CommandFailure {
        var sentence = title
        if let detail = problem.detail, detail != title { sentence += ": \(detail)" }
        sentence += " (\(status)\(problem.code.map { " \($0)" } ?? ""))"
        if status == 401 { sentence += "; check \(credential)" }
        var details = problem.faults.map(text)
        if status >= 500, let request = problem.requestID { details.append("request \(request)") }
        return CommandFailure(sentence, details: details)
    }

    private static func text(_ fault: ChatError.FieldError) -> String {
        let detail = fault.detail.isEmpty ? fault.keyword : fault.detail
        return "\(fault.place): \(detail.isEmpty ? "is wrong" : detail)"
    }

    private static func foreign(_ status: Int, _ credential: String = "PARLEY_KEY") -> String {
        switch status {
        case 300..<400: "the address responded with a redirect (\(status)); set PARLEY_URL to the gateway's own address"
        case 401: "the gateway does not accept the key (401); check \(credential)"
        case 404: "not found (404); check that PARLEY_URL is a Parley gateway"
        default: "the gateway responded with status \(status) and gave no reason"
        }
    }

    /// Returns a sentence that states why there is no response.
    package static func sentence(_ failure: OutboundFailure, url: String) -> String {
        let sentence = failure.sentence(url: url)
        guard failure.reason == .connectRefused else { return sentence }
        return sentence + "; check that the gateway runs ('parley serve') and that PARLEY_URL is correct"
    }
}
