import ChatModel
import JSON
import Signing

/// Reads the members of a source's document and gathers every mistake.
struct SourceReader {
    static let mostSecrets = 10
    static let secretLimitBytes = 1024
    static let descriptionLimitBytes = 1000
    private static let optionLimitBytes = 256

    private let document: JSONDocument
    private let root: JSONValue
    private(set) var faults: [ChatError.Fault] = []

    init(_ document: JSONDocument) {
        self.document = document
        root = document.root
    }

    var error: ChatError {
        // The words that every route has for these mistakes.
        let slug =
            switch faults.first?.keyword {
            case "unknown": "unknown_member"
            case "required": "member_missing"
            case "type": "wrong_type"
            default: "bad_member"
            }
        var error = ChatError(
            .malformed, "the source is not acceptable: \(faults.first?.detail ?? "no object")", slug: slug)
        error.faults = faults
        return error
    }

    mutating func demandObject() throws(ChatError) {
        guard root.members == nil else { return }
        fault("", "type", "the source must be a JSON object")
        throw error
    }

    mutating func checkMembers() {
        guard let members = root.members else { return }
        for member in members where !SourceSettings.members.contains(member.name) {
            faults.append(.unknown(member.name, known: SourceSettings.members))
        }
    }

    mutating func scheme(previous: SourceScheme?) -> SourceScheme? {
        guard let value = root["scheme"] else {
            if let previous { return previous }
            fault("", "required", "missing member scheme")
            return nil
        }
        guard let scheme = value.string.flatMap(SourceScheme.init(name:)) else {
            fault("/scheme", "enum", "scheme must be one of \(SourceScheme.names.joined(separator: ", "))")
            return nil
        }
        return scheme
    }

    /// Nil when left out.
    mutating func secrets() -> [String]? {
        guard let value = root["secrets"] else { return nil }
        guard let secrets = value.strings, secrets.count <= Self.mostSecrets,
            secrets.allSatisfy({ (1...Self.secretLimitBytes).contains($0.utf8.count) })
        else {
            fault(
                "/secrets", "type",
                "secrets must be a list of at most \(Self.mostSecrets) texts of 1 to \(Self.secretLimitBytes) bytes")
            return nil
        }
        return secrets
    }

    /// What the scheme leaves to its user. Left out, it stays for as long as the scheme does.
    mutating func options(for scheme: SourceScheme?, previous: SourceSettings?) -> SchemeSettings {
        var options = SchemeSettings()
        if root["scheme_options"] == nil, let previous, previous.scheme == scheme { options = previous.options }
        options.window = window(previous: previous?.options.window)
        guard let value = root["scheme_options"], !value.isNull else { return options }
        guard let members = value.members else {
            fault("/scheme_options", "type", "scheme_options must be an object")
            return options
        }
        var permitted: Set<SchemeSettings.Member> = []
        if case .signed(let signed) = scheme { permitted = signed.members.subtracting([.window]) }
        for (name, value) in members {
            let pointer = "/scheme_options/\(name.prefix(64))"
            guard let member = SchemeSettings.Member(rawValue: name), permitted.contains(member) else {
                let known = permitted.map(\.rawValue).sorted().joined(separator: ", ")
                fault(
                    pointer, "unknown",
                    "scheme \(scheme?.name ?? "") \(known.isEmpty ? "has no options" : "has the options \(known)")")
                continue
            }
            guard let text = value.string, (1...Self.optionLimitBytes).contains(text.utf8.count) else {
                fault(pointer, "type", "\(name) must be a text of 1 to \(Self.optionLimitBytes) bytes")
                continue
            }
            if !options.set(member, text) { fault(pointer, "enum", "\(name) cannot be '\(text.prefix(64))'") }
        }
        return options
    }

    /// Left out, it stays as it is, unless it was the one that the scheme has by itself.
    mutating func handshake(
        for scheme: SourceScheme?, _ options: SchemeSettings, previous: SourceSettings?
    ) -> SourceHandshake {
        var handshake = scheme.map { SourceHandshake.standard(for: $0) } ?? .none
        if let value = root["handshake"], !value.isNull {
            guard let named = value.string.flatMap(SourceHandshake.init(rawValue:)) else {
                let names = SourceHandshake.allCases.map(\.rawValue).joined(separator: ", ")
                fault("/handshake", "enum", "handshake must be one of \(names)")
                return .none
            }
            handshake = named
        } else if root["handshake"] == nil, let previous, previous.handshake != .standard(for: previous.scheme) {
            handshake = previous.handshake
        }
        if handshake == .x, let scheme, !scheme.signsBodyAlone(options) {
            fault("/handshake", "enum", "handshake x is for the scheme generic that signs the body and nothing else")
        }
        return handshake
    }

    /// Null removes it; left out, it stays as it is.
    mutating func verifyToken(for handshake: SourceHandshake, previous: String?) -> String? {
        var token = previous
        if let value = root["verify_token"] {
            token = value.isNull ? nil : value.string
            if !value.isNull, token.map({ (1...Self.secretLimitBytes).contains($0.utf8.count) }) != true {
                fault(
                    "/verify_token", "type", "verify_token must be a text of 1 to \(Self.secretLimitBytes) bytes")
            }
        }
        if handshake == .meta, token == nil {
            fault("/verify_token", "required", "handshake meta needs the verify_token that the provider was given")
        }
        return handshake == .meta ? token : nil
    }

    /// A source that checks nothing is made only by asking for it, never by leaving the secrets out.
    mutating func checkScheme(_ scheme: SourceScheme, _ secrets: [String], _ options: SchemeSettings) {
        guard case .signed(let signed) = scheme else {
            if !secrets.isEmpty { fault("/secrets", "maxItems", "scheme none checks nothing and takes no secrets") }
            return
        }
        do throws(SignatureSchemeError) {
            _ = try signed.scheme(secrets: secrets, settings: options)
        } catch {
            switch error {
            case .noSecret: fault("/secrets", "minItems", "scheme \(scheme.name) needs at least one secret")
            case .secretInvalid:
                fault("/secrets", "pattern", "a secret is not of the form scheme \(scheme.name) has")
            case .templateInvalid:
                fault("/scheme_options/template", "template", "the scheme's template is not acceptable")
            case .settingMissing(let member):
                fault(
                    "/scheme_options", "required", "scheme \(scheme.name) needs the option \(member.rawValue)")
            case .settingInvalid(let member):
                fault("/scheme_options/\(member.rawValue)", "pattern", "\(member.rawValue) is not acceptable")
            }
        }
    }

    /// Null puts the default back; left out, it stays as it is.
    private mutating func window(previous: ReplayWindow?) -> ReplayWindow {
        guard let value = root["window_seconds"] else { return previous ?? .standard }
        guard !value.isNull else { return .standard }
        guard let seconds = value.integer, ReplayWindow.permittedSeconds.contains(seconds) else {
            let permitted = ReplayWindow.permittedSeconds
            fault(
                "/window_seconds", "range",
                "window_seconds must be a whole number from \(permitted.lowerBound) to \(permitted.upperBound)")
            return .standard
        }
        return ReplayWindow(seconds: seconds)
    }

    /// - Parameter previous: stays when the document says nothing; null puts the default back.
    mutating func mapping(for scheme: SourceScheme?, previous: Mapping? = nil) -> Mapping? {
        let text = document.text.rawMember("mapping")
        if text == nil, let previous { return previous }
        guard let text, text != .null else {
            // Only where CloudEvents may come; with a provider's scheme a mapping was forgotten.
            if scheme?.mayBringCloudEvents == true { return .cloudEvents }
            fault("", "required", "missing member mapping")
            return nil
        }
        do throws(ChatError) {
            return try Mapping(text)
        } catch {
            if error.faults.isEmpty { fault("/mapping", "mapping", error.message) }
            for inner in error.faults {
                fault("/mapping" + inner.pointer.dropFirst(), inner.keyword, inner.detail)
            }
            return nil
        }
    }

    /// Null removes it; left out, it stays as it is.
    mutating func description(previous: String?) -> String {
        guard let value = root["description"] else { return previous ?? "" }
        guard !value.isNull else { return "" }
        guard let text = value.string, text.utf8.count <= Self.descriptionLimitBytes else {
            fault("/description", "type", "description must be a text of at most \(Self.descriptionLimitBytes) bytes")
            return ""
        }
        return text
    }

    private mutating func fault(_ pointer: String, _ keyword: String, _ detail: String) {
        faults.append(ChatError.Fault(pointer: "#" + pointer, keyword: keyword, detail: detail))
    }
}

extension SourceScheme {
    fileprivate var mayBringCloudEvents: Bool {
        switch self {
        case .none, .signed(.standard), .signed(.ed25519), .signed(.rfc9421), .signed(.generic), .signed(.token): true
        case .signed: false
        }
    }
}

extension SchemeSettings {
    /// False for a value there is none of.
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
