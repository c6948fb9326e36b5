import JSON

/// A payload as it was sent: any JSON value, its bytes untouched, and as it was parsed.
struct WirePayload {
    let text: JSONText
    let value: JSONValue

    /// Nil for what is no JSON (RFC 8259).
    ///
    /// Names may repeat and numbers be of any size, as readers get the text and not what was parsed of it.
    init?(_ bytes: [UInt8], depth: Int) {
        // What was wrong is no news: this wire has one text for all of it.
        guard
            let document = try? JSONDocument(
                bytes, limits: JSONLimits(depth: depth), numbers: .any, duplicates: .lastWins)
        else { return nil }
        value = document.root
        text = document.text
    }
}
