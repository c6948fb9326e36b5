import ClientCommands
import Gateway
import JSON

/// The output of the commands that check something.
struct CheckReport {
    /// True to print JSON, one finding per line.
    let isJSON: Bool

    /// Prints the results of checks.
    ///
    /// - Throws: a failure if a check failed.
    func print(_ results: [CheckResult]) throws(CommandFailure) {
        let output = CommandEnvironment.current.console.output
        for result in results {
            if isJSON { output.line(result.json.bytes) } else { result.print(to: output) }
        }
        let failures = results.count { $0.status == .failure }
        guard failures == 0 else {
            throw CommandFailure(failures == 1 ? "1 check failed" : "\(failures) checks failed")
        }
    }
}

extension CheckResult {
    fileprivate func print(to output: Sink) {
        let mark =
            switch status {
            case .ok: output.style.good("ok     ")
            case .warning: output.style.heading("warning")
            case .failure: output.style.bad("failure")
            }
        output.line("\(mark)  \(output.style.name(check)): \(SanitizedText.safe(text))")
        if let advice { output.line("         \(SanitizedText.safe(advice))") }
    }

    fileprivate var json: JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("check", check)
            writer.member("status", status.rawValue)
            writer.member("text", text)
            if let advice { writer.member("advice", advice) } else { writer.nullMember("advice") }
            writer.endObject()
        }
    }
}
