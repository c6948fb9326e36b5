/// Why a command did not do what it was asked, for the person who typed it.
package struct CommandFailure: Error, Equatable {
    /// One sentence that says what to change where that is known.
    package var message: String
    /// Further lines: the faults of a document, what was done before.
    package var details: [String] = []
    /// 1, or 2 when the command itself was wrong.
    package var code: Int32 = 1

    package init(_ message: String, details: [String] = [], code: Int32 = 1) {
        self.message = message
        self.details = details
        self.code = code
    }
}

/// For the log of a gateway whose settings cannot be read again.
extension CommandFailure: CustomStringConvertible {
    package var description: String { message }
}
