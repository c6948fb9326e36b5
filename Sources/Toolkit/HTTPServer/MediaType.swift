/// A media type: type and subtype in lower case, without parameters (RFC 9110, 8.3.1).
public struct MediaType: Hashable, Sendable {
    /// The part before the slash.
    public let type: String
    /// The part after the slash. Empty for a text that is not a media type.
    public let subtype: String

    /// Reads the value of a `Content-Type` field.
    public init(_ field: String) { self.init(field[...]) }

    /// Reads one element of an `Accept` field.
    public init(_ element: Substring) {
        var element = element
        (type, subtype) = element.withUTF8 { bytes in
            let name = bytes.prefix { $0 != UInt8(ascii: ";") }
            let slash = name.firstIndex(of: UInt8(ascii: "/")) ?? name.endIndex
            return (Self.bare(name[..<slash]), Self.bare(name[slash...].dropFirst()))
        }
    }

    /// Returns the text without spaces and tabs, with ASCII letters in lower case.
    private static func bare(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> String {
        String(unsafeUninitializedCapacity: bytes.count) { text in
            var count = 0
            for byte in bytes where !ASCII.isBlank(byte) {
                text[count] = ASCII.lowercased(byte)
                count += 1
            }
            return count
        }
    }

    /// The type as text, `type/subtype`.
    public var text: String { subtype.isEmpty ? type : "\(type)/\(subtype)" }

    /// True for `application/json`, `text/json`, and any type with the suffix `+json` (RFC 6839, 3.1).
    public var isJSON: Bool {
        subtype == "json" && (type == "application" || type == "text") || subtype.hasSuffix("+json")
    }

    /// True for `text/*` and XML types.
    public var isText: Bool {
        type == "text" || subtype.hasSuffix("+xml") || type == "application" && subtype == "xml"
    }
}

extension Headers {
    /// Returns the offer that the client prefers according to its `Accept` fields (RFC 9110, 12.5.1). If several offers
    /// have the highest weight, returns the first of them. Without an `Accept` field, returns the first offer. Returns
    /// `nil` when the client accepts none of the offers.
    public func mostAccepted<Offer>(of offers: some Collection<Offer>, as type: (Offer) -> MediaType) -> Offer? {
        let ranges = self[all: "Accept"].flatMap { $0.split(separator: ",") }.map { AcceptedRange($0) }
            .filter { !$0.type.subtype.isEmpty }
        guard !ranges.isEmpty else { return offers.first }
        var best: (offer: Offer, weight: Int)?
        for offer in offers {
            let weight = AcceptedRange.weight(of: type(offer), in: ranges)
            if weight > best?.weight ?? 0 { best = (offer, weight) }
        }
        return best?.offer
    }
}

/// One element of an `Accept` or `Accept-Encoding` field with its weight. The element is a media type, a range such as
/// `text/*` or `*/*`, or a content coding such as `gzip`.
struct AcceptedRange {
    let type: MediaType
    /// The weight in thousandths.
    let weight: Int

    init(_ text: Substring) {
        type = MediaType(text)
        let parameters = text.split(separator: ";").dropFirst().map(\.bare)
        weight = parameters.first { $0.hasPrefix("q=") }.map { Self.thousandths($0.dropFirst(2)) } ?? 1000
    }

    /// Returns the weight in thousandths. A weight that is outside 0...1, infinite or not a number counts as zero.
    private static func thousandths(_ text: Substring) -> Int {
        guard let weight = Double(text), (0...1).contains(weight) else { return 0 }
        return Int(weight * 1000)
    }

    /// Returns the weight of an offer in thousandths. If several ranges match the offer, the most specific range
    /// determines the weight (RFC 9110, 12.5.1).
    static func weight(of offer: MediaType, in ranges: [AcceptedRange]) -> Int {
        for wanted in [offer.text, offer.type + "/*", "*/*"] {
            if let range = ranges.last(where: { $0.type.text == wanted }) { return range.weight }
        }
        return 0
    }
}

extension StringProtocol {
    /// The text in lower case, without spaces and tabs.
    fileprivate var bare: String { String(self).filter { $0 != " " && $0 != "\t" }.lowercased() }
}
