import ClientCommands
import GatewayClient
import JSON

/// Sends lines to the gateway's import and counts the results.
struct ImportSender {
    let access: GatewayAccess
    let isReplacing: Bool
    private(set) var tally = ImportTally()

    /// The gateway's limits on a request, not counting the text around the lines.
    static let lines = BatchSplitter.Limits(lines: 500, bytes: 1024 * 1024 - 64, overhead: 1)

    init(_ access: GatewayAccess, isReplacing: Bool) {
        self.access = access
        self.isReplacing = isReplacing
    }

    /// Sends the lines in one request, counts the results and prints rejections above the progress bar.
    ///
    /// - Parameter name: returns the name of the line at an index, for the message when the line is rejected.
    mutating func send(_ lines: [JSONText], name: (Int) -> String, _ bar: inout ProgressBar) async throws {
        guard !lines.isEmpty else { return }
        let body = JSONText(capacity: lines.reduce(64) { $0 + $1.count + 1 }) { writer in
            writer.beginObject()
            if isReplacing { writer.member("replace", true) }
            writer.key("records")
            writer.beginArray()
            for line in lines { writer.raw(line) }
            writer.endArray()
            writer.endObject()
        }
        // The request may be repeated, because an import does not change existing data.
        let answer = try await access.send(
            Call("POST", RequestPath("import"), body: body, isHarmless: true))
        let results = answer.document?.root["results"]?.elements ?? []
        guard results.count == lines.count else {
            throw CommandFailure("the gateway returned \(results.count) results for \(lines.count) lines")
        }
        for (index, result) in results.enumerated() {
            let status = Int(result["status"]?.integer ?? 0)
            let record = (try? JSONDocument(lines[index].bytes, numbers: .lenient))?.root["record"]?.string ?? "line"
            tally.count(record, status, attached: Int(result["attached"]?.integer ?? 0))
            guard !(200..<300).contains(status) else { continue }
            refuse(name(index), ProblemDescription.failure(result["problem"], status: status), &bar)
        }
    }

    /// Counts a line that was found invalid before it was sent, and prints the reason.
    mutating func refuse(_ name: String, _ reason: String, _ bar: inout ProgressBar) {
        tally.count("line", 0)
        refuse(name, CommandFailure(reason), &bar)
    }

    /// The maximum number of rejections that are printed. Further rejections are only counted.
    private static let reported = 50

    private func refuse(_ name: String, _ failure: CommandFailure, _ bar: inout ProgressBar) {
        guard tally.refused <= Self.reported else { return }
        let text = ([failure.message] + failure.details).map(SanitizedText.safe).joined(separator: "; ")
        bar.line("\(name): \(text)")
    }
}

/// The numbers of imported lines, by their kind.
struct ImportTally: ProgressLine {
    private(set) var new: [String: Int] = [:]
    private(set) var known = 0
    private(set) var refused = 0
    /// The number of reactions and other actions that were added to existing messages.
    private(set) var attached = 0

    mutating func count(_ record: String, _ status: Int, attached: Int = 0) {
        switch status {
        case 201: new[record, default: 0] += 1
        case 200:
            known += 1
            self.attached += attached
        default: refused += 1
        }
    }

    func line(elapsed: Duration, width: Int) -> String { String(summary.prefix(width)) }

    var summary: String {
        let parts = new.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)\($0.value == 1 ? "" : "s")" }
        let taken = parts.isEmpty ? "nothing new" : parts.joined(separator: ", ")
        let late = attached > 0 ? " (\(attached) attached to existing messages)" : ""
        return taken + ", \(known) already present\(late), \(refused) rejected"
    }

    /// The numbers as JSON.
    var report: JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.key("new")
            writer.beginObject()
            for (record, count) in new.sorted(by: { $0.key < $1.key }) {
                writer.key(text: record)
                writer.integer(count)
            }
            writer.endObject()
            writer.member("known", known)
            writer.member("attached", attached)
            writer.member("refused", refused)
            writer.endObject()
        }
    }
}
