/// What a template may cost: its author's mistakes and a sender's hostile arrays end here.
public struct TemplateLimits: Sendable {
    /// Length of the template itself.
    public var bytes = 32 * 1024
    /// Nesting of the template itself, which bounds the recursion of compiling and filling in.
    public var depth = 64
    /// References in the whole template; each may read through a whole document once.
    public var references = 256
    /// Work of one run: one step for each value printed or compared and for each KiB read through, so that repetitions
    /// inside repetitions end. The worst that was found for 1 MiB of hostile arrays costs 0.2 s of a CPU; 90 references
    /// that each read through 1 MiB are within it.
    public var steps = 100_000

    public init() {}
}
