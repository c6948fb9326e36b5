import ChatModel
import JSON
import Signing

/// Reads the members of a source's settings document.
struct SourceReader {
    static let mostSecrets = 10
    static let secretBytes = 1...1024
    static let descriptionBytes = 0...1000
    private static let optionBytes = 1...256

    private let fields: Fields

    /// Creates a reader of a settings document.
    ///
    /// - Throws: `.malformed` when the document is not an object.
    init(_ document: JSONDocument) throws(ChatError) {
        fields = try Fields(document, known: nil)
    }

    func refuseUnknown() throws(ChatError) { try fields.refuseUnknown(SourceSettings.members) }

    func scheme(previous: SourceScheme?) throws(ChatError) -> SourceScheme {
        if let scheme = try fields.choice("scheme", SourceScheme.all.map { ($0.name, $0) }) { return scheme }
        guard !fields.has("scheme") else { throw notNull("scheme") }
        return try fields.required("scheme", previous)
    }

    private func notNull(_ name: String) -> ChatError {
        fields.fault(name, "type", "must not be null", slug: "wrong_type")
    }

    /// The member `secrets`; nil when it is absent.
    func secrets() throws(ChatError) -> [String]? {
        guard let secrets = try fields.strings("secrets", count: 0...Self.mostSecrets) else {
            if fields.has("secrets") { throw notNull("secrets") }
            return nil
        }
        for (index, secret) in secrets.enumerated() where !Self.secretBytes.contains(secret.utf8.count) {
            let (least, most) = (Self.secretBytes.lowerBound, Self.secretBytes.upperBound)
            throw fields.fault("secrets/\(index)", "length", "must be \(least) to \(most) bytes long")
        }
        return secrets
    }

    /// The options of the scheme. If they are absent, the previous options are kept, unless the scheme has changed.
    func options(for scheme: SourceScheme, previous: SourceSettings?) throws(ChatError) -> SchemeSettings {
        var options = SchemeSettings()
        if !fields.has("scheme_options"), let previous, previous.scheme == scheme { options = previous.options }
        options.window = try window(previous: previous?.options.window)
        guard let given = try fields.object("scheme_options", known: nil) else { return options }
        var permitted: Set<SchemeSettings.Member> = []
        if case .signed(let signed) = scheme { permitted = signed.members.subtracting([.window]) }
        try given.refuseUnknown(permitted.map(\.rawValue).sorted())
        for member in permitted.sorted(by: { $0.rawValue < $1.rawValue }) {
            let name = member.rawValue
            guard let text = try given.string(name, bytes: Self.optionBytes) else { continue }
            guard options.set(member, text) else {
                throw given.fault(name, "enum", "\(name) does not accept the value '\(text.prefix(64))'")
            }
        }
        return options
    }

    /// The member `window_seconds`. Null restores the default; an absent member keeps the previous value.
    private func window(previous: ReplayWindow?) throws(ChatError) -> ReplayWindow {
        guard fields.has("window_seconds") else { return previous ?? .standard }
        let permitted = ReplayWindow.permittedSeconds
        let range = Int(permitted.lowerBound)...Int(permitted.upperBound)
        return try fields.integer("window_seconds", in: range).map { ReplayWindow(seconds: Int64($0)) } ?? .standard
    }

    /// The member `handshake`. If it is absent, the previous handshake is kept, unless it was the previous scheme's
    /// default.
    func handshake(
        for scheme: SourceScheme, _ options: SchemeSettings, previous: SourceSettings?
    ) throws(ChatError) -> SourceHandshake {
        var handshake = SourceHandshake.standard(for: scheme)
        if let named = try fields.word("handshake", SourceHandshake.self) {
            handshake = named
        } else if !fields.has("handshake"), let previous, previous.handshake != .standard(for: previous.scheme) {
            handshake = previous.handshake
        }
        guard handshake != .x || scheme.signsBodyAlone(options) else {
            throw fields.fault(
                "handshake", "enum", "the handshake 'x' needs the scheme 'generic' with a signature of the body alone")
        }
        return handshake
    }

    /// The member `verify_token`. Null removes the token; an absent member keeps the previous token. The result is nil
    /// for handshakes other than `meta`.
    func verifyToken(for handshake: SourceHandshake, previous: String?) throws(ChatError) -> String? {
        let name = "verify_token"
        let token = fields.has(name) ? try fields.string(name, bytes: Self.secretBytes) : previous
        guard handshake == .meta else { return nil }
        guard let token else {
            throw fields.fault(
                name, "required", "the handshake 'meta' needs 'verify_token', the token that the provider sends",
                slug: "member_missing")
        }
        return token
    }

    /// Checks the scheme with its secrets and options. A scheme with signatures requires secrets: only the explicit
    /// scheme `none` turns the verification off.
    func checkScheme(_ scheme: SourceScheme, _ secrets: [String], _ options: SchemeSettings) throws(ChatError) {
        guard case .signed(let signed) = scheme else {
            guard secrets.isEmpty else {
                throw fields.fault("secrets", "maxItems", "the scheme 'none' checks no signature; leave 'secrets' out")
            }
            return
        }
        do throws(SignatureSchemeError) {
            _ = try signed.scheme(secrets: secrets, settings: options)
        } catch {
            switch error {
            case .noSecret:
                throw fields.fault("secrets", "minItems", "the scheme '\(scheme.name)' needs at least one secret")
            case .secretInvalid:
                throw fields.fault(
                    "secrets", "pattern", "a secret does not have the form that the scheme '\(scheme.name)' requires")
            case .templateInvalid:
                throw fields.fault(
                    "scheme_options/template", "template", "the scheme's template is not valid")
            case .settingMissing(let member):
                throw fields.fault(
                    "scheme_options", "required", "the scheme '\(scheme.name)' needs the option '\(member.rawValue)'",
                    slug: "member_missing")
            case .settingInvalid(let member):
                throw fields.fault(
                    "scheme_options/\(member.rawValue)", "pattern",
                    "'\(member.rawValue)' has a value that the scheme does not accept")
            }
        }
    }

    /// The member `mapping`. Null restores the default.
    ///
    /// - Parameters:
    ///   - scheme: the scheme of the source; nil when the document's scheme is invalid.
    ///   - previous: the mapping to keep when the member is absent.
    func mapping(for scheme: SourceScheme?, previous: Mapping? = nil) throws(ChatError) -> Mapping {
        let text = fields.raw("mapping")
        if text == nil, let previous { return previous }
        guard let text, text != .null else {
            // The default mapping is for schemes that may deliver CloudEvents. With a provider's own scheme, the member
            // is required.
            guard scheme?.acceptsCloudEvents == true else { throw fields.missing("member 'mapping'") }
            return .cloudEvents
        }
        return try Mapping(text, at: "#/mapping")
    }

    /// The member `description`. Null removes the description; an absent member keeps the previous description.
    func description(previous: String?) throws(ChatError) -> String {
        guard fields.has("description") else { return previous ?? "" }
        return try fields.string("description", bytes: Self.descriptionBytes) ?? ""
    }
}

extension SourceScheme {
    fileprivate var acceptsCloudEvents: Bool {
        switch self {
        case .none, .signed(.standard), .signed(.ed25519), .signed(.rfc9421), .signed(.generic), .signed(.token): true
        case .signed: false
        }
    }
}

extension SchemeSettings {
    /// Sets an option from its text. Returns false for an invalid value.
    mutating func set(_ member: Member, _ text: String) -> Bool {
        switch member {
        case .header: header = text
        case .prefix: prefix = text
        case .template: template = text
        case .timestampHeader: timestampHeader = text
        case .idHeader: idHeader = text
        case .idPointer:
            guard JSONPointer(text) != nil else { return false }
            idPointer = text
        case .encoding:
            guard let value = HMACScheme.Encoding(rawValue: text) else { return false }
            encoding = value
        case .algorithm:
            guard let value = HashAlgorithm(rawValue: text) else { return false }
            algorithm = value
        case .window: return false
        }
        return true
    }
}
