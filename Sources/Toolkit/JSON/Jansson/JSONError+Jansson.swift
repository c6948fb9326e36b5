import CJansson

extension JSONError {
    /// jansson's report. Its message quotes what it stopped at (`… near 'x'`), which is the sender's own text.
    init(_ failure: json_error_t) {
        var failure = failure
        // jansson keeps the code in the last byte of the text buffer (`json_error_code`, jansson.h).
        let code = withUnsafeBytes(of: &failure.text) { $0[$0.count - 1] }
        let text = withUnsafeBytes(of: &failure.text) { String(decoding: $0.prefix(while: { $0 != 0 }), as: UTF8.self) }
        let reason: Reason =
            switch UInt32(code) {
            case json_error_duplicate_key.rawValue: .duplicateName
            case json_error_stack_overflow.rawValue: .tooDeep
            case json_error_numeric_overflow.rawValue where text.hasPrefix("too big"): .numberOutOfRange
            default: .malformed
            }
        self.init(
            reason: reason, message: text, line: Int(failure.line), column: Int(failure.column),
            offset: Int(failure.position))
    }
}
