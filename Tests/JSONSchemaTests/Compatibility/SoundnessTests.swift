import JSON
import Testing

@testable import JSONSchema

@Suite("A comparison of random versions") struct SoundnessTests {
    /// The comparison answers yes only if no value contradicts it, and no only with a witness. It also answers often
    /// enough for both checks to be meaningful.
    @Test("is never contradicted", arguments: [1, 2, 3, 4] as [UInt64])
    func soundness(seed: UInt64) throws {
        var random = RandomSchemas(seed: seed)
        var counts = (yes: 0, no: 0, unknown: 0)
        for _ in 0..<Self.rounds {
            let texts = random.versions()
            // Some generated texts are no schema: they have a circular reference, or one without a target.
            guard let old = try? schema(texts.old), let new = try? schema(texts.new) else { continue }
            let values = try (0..<40).map { _ in try JSONDocument(Array(random.value().utf8)) }
            for mode in [SchemaComparison.Mode.backward, .forward] {
                let versions = mode == .backward ? (narrow: old, wide: new) : (narrow: new, wide: old)
                switch SchemaComparison(old: old, new: new, mode: mode).verdict {
                case .yes:
                    counts.yes += 1
                    let contradiction = try (values + made(for: versions.narrow)).first {
                        accepts(versions.narrow, $0) == true && accepts(versions.wide, $0) == false
                    }
                    #expect(contradiction?.text.description == nil, "seed \(seed), \(mode)\n\(texts.old)\n\(texts.new)")
                case .no(let witness):
                    counts.no += 1
                    let value = try JSONDocument(witness.bytes)
                    #expect(accepts(versions.narrow, value) == true && accepts(versions.wide, value) == false)
                case .unknown: counts.unknown += 1
                }
            }
        }
        #expect(counts.yes > Self.rounds / 4 && counts.no > Self.rounds / 4, "\(counts)")
        #expect(counts.unknown < Self.rounds / 10, "\(counts)")
    }

    private static let rounds = 100

    /// Values that the schema is likely to accept.
    private func made(for schema: Schema) throws -> [JSONDocument] {
        var inclusion = Inclusion(VersionPair(old: schema, new: schema), .backward, isLenient: false)
        return try inclusion.variety(of: [RuleRef(.old, 0)]).map { try JSONDocument($0.bytes) }
    }

    private func schema(_ text: String) throws -> Schema { try Schema(try JSONDocument(Array(text.utf8))) }

    private func accepts(_ schema: Schema, _ document: JSONDocument) -> Bool? {
        var scratch = Scratch()
        switch schema.verdict(on: document.root, scratch: &scratch) {
        case .valid: return true
        case .invalid: return false
        case .exhausted: return nil
        }
    }
}
