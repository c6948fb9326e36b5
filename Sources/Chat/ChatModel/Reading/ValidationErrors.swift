/// Collects the faults in the members of one object, so that one error reports them all.
public struct ValidationErrors: Sendable {
    public private(set) var faults: [ChatError.FieldError] = []
    private var slug: String?

    public init() {}

    public var isEmpty: Bool { faults.isEmpty }

    /// Adds what an error points at.
    public mutating func add(_ error: ChatError) {
        if faults.isEmpty { slug = error.slug }
        faults +=
            error.faults.isEmpty
            ? [ChatError.FieldError(pointer: "#", keyword: error.slug ?? "invalid", detail: error.message)] : error.faults
    }

    /// What `read` returns; nil after an error, which is added.
    @discardableResult
    public mutating func reading<Value>(_ read: () throws(ChatError) -> Value) -> Value? {
        do throws(ChatError) {
            return try read()
        } catch {
            add(error)
            return nil
        }
    }

    /// - Throws: `.malformed` with all faults, and the code and the text of the first one.
    public func check() throws(ChatError) {
        guard let first = faults.first else { return }
        var error = ChatError(.malformed, "\(first.pointer): \(first.detail)", slug: slug ?? "bad_member")
        error.faults = faults
        throw error
    }
}
