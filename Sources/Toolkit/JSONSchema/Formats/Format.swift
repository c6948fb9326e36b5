/// A string format of JSON Schema, with functions that check if a text has the format.
///
/// A check reads the UTF-8 bytes once, allocates no memory and does not depend on a locale. It follows the grammar of
/// the format's RFC exactly. Literals in an ABNF grammar are case-insensitive, so `P1D` and `p1d` are both valid.
enum Format: UInt8, Sendable, CaseIterable {
    case date, time, dateTime, duration
    case email, idnEmail
    /// A host name of letters, digits and hyphens: the meaning of `hostname` up to draft-06.
    case plainHostname
    /// A host name whose `xn--` labels are decoded and checked: the meaning of `hostname` from draft-07 on.
    case hostname
    case idnHostname
    case ipv4, ipv6
    case uri, uriReference, iri, iriReference
    case uuid, uriTemplate, jsonPointer, relativeJSONPointer, regex

    /// Creates the format with this name in a dialect. Returns nil for an unknown name; unknown formats never fail.
    init?(name: some StringProtocol, in dialect: Dialect) {
        guard let format = Format.known(in: dialect).first(where: { $0.name == name }) else { return nil }
        self = format
        if format.readsInternationalNames { IDNA.prepare() }
    }

    static func known(in dialect: Dialect) -> [Format] { allCases.filter { $0.isKnown(in: dialect) } }

    /// The name of the format in a schema.
    var name: String {
        switch self {
        case .date: "date"
        case .time: "time"
        case .dateTime: "date-time"
        case .duration: "duration"
        case .email: "email"
        case .idnEmail: "idn-email"
        case .plainHostname, .hostname: "hostname"
        case .idnHostname: "idn-hostname"
        case .ipv4: "ipv4"
        case .ipv6: "ipv6"
        case .uri: "uri"
        case .uriReference: "uri-reference"
        case .iri: "iri"
        case .iriReference: "iri-reference"
        case .uuid: "uuid"
        case .uriTemplate: "uri-template"
        case .jsonPointer: "json-pointer"
        case .relativeJSONPointer: "relative-json-pointer"
        case .regex: "regex"
        }
    }

    func accepts(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        switch self {
        case .date: Format.isDate(text)
        case .time: Format.isTime(text)
        case .dateTime: Format.isDateTime(text)
        case .duration: Format.isDuration(text)
        case .email: Format.isMailbox(text, international: false)
        case .idnEmail: Format.isMailbox(text, international: true)
        case .plainHostname: Format.isHostname(text, checksALabels: false)
        case .hostname: Format.isHostname(text, checksALabels: true)
        case .idnHostname: IDNA.isHostname(text)
        case .ipv4: Format.isIPv4(text)
        case .ipv6: Format.isIPv6(text)
        case .uri: Format.isURI(text, relative: false, international: false)
        case .uriReference: Format.isURI(text, relative: true, international: false)
        case .iri: Format.isURI(text, relative: false, international: true)
        case .iriReference: Format.isURI(text, relative: true, international: true)
        case .uuid: Format.isUUID(text)
        case .uriTemplate: Format.isURITemplate(text)
        case .jsonPointer: Format.isJSONPointer(text)
        case .relativeJSONPointer: Format.isRelativeJSONPointer(text)
        case .regex: Pattern.isSyntacticallyValid(text)
        }
    }
}

extension Format {
    private func isKnown(in dialect: Dialect) -> Bool {
        switch self {
        case .plainHostname: dialect < .draft07
        case .dateTime, .email, .ipv4, .ipv6, .uri: true
        case .uriReference, .uriTemplate, .jsonPointer: dialect >= .draft06
        case .duration, .uuid: dialect >= .draft201909
        case .date, .time, .idnEmail, .hostname, .idnHostname, .iri, .iriReference, .relativeJSONPointer, .regex:
            dialect >= .draft07
        }
    }

    private var readsInternationalNames: Bool { self == .idnEmail || self == .hostname || self == .idnHostname }
}

extension Format {
    /// Returns true for a textual UUID (RFC 4122) of any version and variant.
    static func isUUID(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard text.count == 36 else { return false }
        return text.indices.allSatisfy { index in
            switch index {
            case 8, 13, 18, 23: text[index] == UInt8(ascii: "-")
            default: ByteSet.hexadecimal.contains(text[index])
            }
        }
    }
}
