@testable import JSONSchema

/// Patterns and texts as strings, a form that the engine itself never handles.
extension Pattern {
    convenience init(_ text: String, limits: PatternLimits = .standard, engine: Matcher? = nil) throws(PatternError) {
        let bytes = Array(text.utf8)
        // A closure would lose the type of the thrown error.
        let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
        _ = copy.initialize(from: bytes)
        defer { copy.deallocate() }
        try self.init(UnsafeBufferPointer(copy), limits: limits, engine: engine)
    }

    func verdict(_ text: String, steps: Int = 100_000) -> PatternVerdict {
        var steps = steps
        return verdict(text, steps: &steps)
    }

    func verdict(_ text: String, steps: inout Int) -> PatternVerdict {
        Array(text.utf8).withUnsafeBufferPointer { matches($0, steps: &steps) }
    }

    static func isValid(_ text: String) -> Bool {
        Array(text.utf8).withUnsafeBufferPointer { isSyntacticallyValid($0) }
    }

    /// The error of an invalid pattern; nil for a valid one.
    static func refusal(_ text: String, limits: PatternLimits = .standard) -> PatternError? {
        do {
            _ = try Pattern(text, limits: limits)
            return nil
        } catch {
            return error
        }
    }
}
