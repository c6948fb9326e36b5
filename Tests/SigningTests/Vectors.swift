import Signing

/// The moment all vectors were made for: 2023-11-14T22:13:20Z.
let vectorTime: Int64 = 1_700_000_000

/// The body all vectors were made over, unless they say otherwise: 123 bytes with a two-byte é.
let vectorBody = Array(
    """
    {"type":"message.created","timestamp":"2023-11-14T22:13:20.000Z","data":{"channel":"general","user":"u_1","text":"héllo"}}
    """.utf8)

/// Bytes counting up, as in the vectors' keys.
func countingUp(_ range: ClosedRange<UInt8>) -> [UInt8] { Array(range) }

/// Random bytes a test can foresee.
struct CountingRandomSource: RandomSource {
    func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0) } }
}

/// The rejection a verification ends with, `nil` if it is accepted.
func rejection(_ body: () throws(SignatureRejection) -> Void) -> SignatureRejection? {
    do {
        try body()
        return nil
    } catch {
        return error
    }
}
