/// The rules for subjects. The client library does not check those of published messages, and a line break in one
/// would send a command to the server.
enum Subject {
    /// The maximum length in bytes. The server limits a whole protocol line to 4096 bytes.
    static let maximumLength = 1024

    /// - Parameter wildcards: true if `*` and `>` are allowed, as in a subscription.
    /// - Throws: ``NATSFailure/Kind/invalid``.
    static func check(_ subject: String, wildcards: Bool) throws(NATSFailure) {
        guard subject.utf8.count <= maximumLength else {
            throw NATSFailure(.invalid, "a subject has at most \(maximumLength) bytes; got \(subject.utf8.count)")
        }
        let tokens = subject.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let last = tokens.count - 1
        let isValid = tokens.enumerated().allSatisfy { index, token in
            guard let first = token.first, token.allSatisfy({ $0 > 32 && $0 != 127 }) else { return false }
            guard token.count == 1 else { return true }
            switch first {
            case UInt8(ascii: "*"): return wildcards
            case UInt8(ascii: ">"): return wildcards && index == last
            default: return true
            }
        }
        guard isValid else {
            let rule = wildcards ? "`*` stands for one part, and `>` for the rest" : "without wildcards"
            throw NATSFailure(.invalid, "the subject is not valid; send parts without spaces, joined by dots, \(rule)")
        }
    }
}
