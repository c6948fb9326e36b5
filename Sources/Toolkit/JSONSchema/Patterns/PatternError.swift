/// Why a pattern cannot be used, and where in it.
struct PatternError: Error, Equatable, CustomStringConvertible {
    /// One clause without a final stop, for the author of the schema.
    let message: String
    /// Bytes of the pattern before the place the message speaks of.
    let offset: Int

    var description: String { "\(message) (at byte \(offset))" }
}
