/// The parts of libpq's verbose message about a failed attempt to connect, such as
/// `connection to server at "db", port 5432 failed: FATAL:  28P01: password authentication failed for user "app"`.
struct OpeningReport {
    /// The message on one line, without the position in the source code of PostgreSQL.
    let message: String
    /// The last error code in the message; `nil` if no server sent one.
    let sqlState: String?

    init(_ text: String) {
        let lines = text.split(whereSeparator: \.isNewline).map { $0.drop(while: \.isWhitespace) }
            .filter { !$0.hasPrefix("LOCATION:") }
        message = lines.joined(separator: ", ")
        sqlState = lines.lazy.flatMap { $0.split(separator: ":") }.map { $0.drop { $0 == " " } }
            .last { $0.utf8.count == 5 && $0.utf8.allSatisfy(Self.isCodeCharacter) }.map { String($0) }
    }

    private static func isCodeCharacter(_ byte: UInt8) -> Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
    }

    /// True for the codes of a server that starts, stops or has no resources for the connection.
    func isTemporary(_ code: String) -> Bool { ["57P", "53", "08"].contains { code.hasPrefix($0) } }
}
