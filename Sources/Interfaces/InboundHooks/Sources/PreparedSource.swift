import ChatModel
import Signing

/// A source in memory, with the values that its posts need and that do not depend on a post.
public final class PreparedSource: Sendable {
    let source: Source
    /// The verifiers of the source, one for each secret; empty when the source verifies nothing.
    let verifiers: [any SignatureScheme]
    /// The caller whose rights apply to the events of the source, without the meters of its app.
    let caller: Caller
    let recordKey: RecordKey

    init(_ source: Source, verifiers: [any SignatureScheme]) {
        self.source = source
        self.verifiers = verifiers
        caller = source.caller
        recordKey = source.recordKey
    }
}
