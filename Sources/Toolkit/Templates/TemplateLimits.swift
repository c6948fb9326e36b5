/// What a template may cost: its author's mistakes and a sender's hostile arrays end here.
public struct TemplateLimits: Sendable {
    /// Length of the template itself.
    public var bytes = 32 * 1024
    /// Nesting of the template itself, which bounds the recursion of compiling and filling in.
    public var depth = 32
    /// References in the whole template; each may read through a whole document once.
    public var references = 256
    /// Work of one run: one step for each value printed or compared and for each KiB read through, so that repetitions
    /// inside repetitions end. 256 references to a body of 1 MiB are more than that, 100 are not.
    public var steps = 200_000

    public init() {}
}
