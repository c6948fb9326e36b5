/// Bytes that are part of the program: they never change and live as long as the process.
public struct StaticBytes: @unchecked Sendable {
    // Safe to share: nobody writes them.
    public let buffer: UnsafeRawBufferPointer

    /// - Parameter start: the first of bytes that outlive every use of this value.
    public init(start: UnsafeRawPointer, count: Int) { buffer = UnsafeRawBufferPointer(start: start, count: count) }

    /// The UTF-8 of a literal.
    public init(_ text: StaticString) { self.init(start: text.utf8Start, count: text.utf8CodeUnitCount) }
}
