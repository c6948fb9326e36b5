/// A media type by its two names, in lower case, without parameters (RFC 9110, 8.3.1).
public struct MediaType: Hashable, Sendable {
    public let type: String
    /// Empty for a text that is no media type.
    let subtype: String

    /// Reads the value of a `Content-Type`, or one element of an `Accept`.
    public init(_ field: some StringProtocol) {
        let name = field.prefix { $0 != ";" }.bare
        let slash = name.firstIndex(of: "/") ?? name.endIndex
        type = String(name[..<slash])
        subtype = String(name[slash...].dropFirst())
    }

    /// `type/subtype`.
    public var text: String { subtype.isEmpty ? type : "\(type)/\(subtype)" }

    /// `application/json`, `text/json`, or any type with the suffix `+json` (RFC 6839, 3.1).
    public var isJSON: Bool {
        subtype == "json" && (type == "application" || type == "text") || subtype.hasSuffix("+json")
    }

    /// Text for people, or XML.
    public var isText: Bool {
        type == "text" || subtype.hasSuffix("+xml") || type == "application" && subtype == "xml"
    }
}

extension Headers {
    /// What a client accepts most of what there is to give (`Accept`; RFC 9110, 12.5.1): the first of those it weighs
    /// alike, and of all when it says nothing. Nil when it accepts none.
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

/// One element of an `Accept`, or of an `Accept-Encoding`: a type, `text/*` or `*/*`, or a coding, with its weight.
struct AcceptedRange {
    let type: MediaType
    /// In thousandths.
    let weight: Int

    init(_ text: Substring) {
        type = MediaType(text)
        let parameters = text.split(separator: ";").dropFirst().map(\.bare)
        weight = parameters.first { $0.hasPrefix("q=") }.map { Self.thousandths($0.dropFirst(2)) } ?? 1000
    }

    /// A weight outside 0...1, infinite or no number at all asks for nothing.
    private static func thousandths(_ text: Substring) -> Int {
        guard let weight = Double(text), (0...1).contains(weight) else { return 0 }
        return Int(weight * 1000)
    }

    /// The most exact range decides, as the RFC has it.
    static func weight(of offer: MediaType, in ranges: [AcceptedRange]) -> Int {
        for wanted in [offer.text, offer.type + "/*", "*/*"] {
            if let range = ranges.last(where: { $0.type.text == wanted }) { return range.weight }
        }
        return 0
    }
}

extension StringProtocol {
    /// Without blanks, in lower case.
    fileprivate var bare: String { String(self).filter { $0 != " " && $0 != "\t" }.lowercased() }
}
