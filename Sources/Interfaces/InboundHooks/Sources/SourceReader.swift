import ChatModel
import JSON
import Signing

/// Reads the members of a source's document and gathers every mistake.
struct SourceReader {
    static let mostSecrets = 10
    static let secretLimitBytes = 1024
    static let descriptionLimitBytes = 1000
    private static let members: Set<String> = ["scheme", "secrets", "window_seconds", "mapping", "description"]
    private static let readOnly: Set<String> = ["id", "path", "secret_count", "created_at", "updated_at"]

    private let document: JSONDocument
    private let root: JSONValue
    private(set) var faults: [ChatError.Fault] = []

    init(_ document: JSONDocument) {
        self.document = document
        root = document.root
    }

    var error: ChatError {
        var error = ChatError(.malformed, "the source is not acceptable: \(faults.first?.detail ?? "no object")")
        error.faults = faults
        return error
    }

    mutating func checkMembers() {
        guard let members = root.members else { return fault("", "type", "the source must be a JSON object") }
        for member in members where !Self.members.contains(member.name) && !Self.readOnly.contains(member.name) {
            fault("/\(member.name)", "additionalProperties", "unknown member \(member.name.prefix(64))")
        }
    }

    mutating func scheme() -> SourceScheme? {
        guard let value = root["scheme"] else {
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

    /// A source that checks nothing is made only by asking for it, never by leaving the secrets out.
    mutating func checkSecrets(_ secrets: [String], for scheme: SourceScheme, _ window: ReplayWindow) {
        switch scheme {
        case .none:
            if !secrets.isEmpty { fault("/secrets", "maxItems", "scheme none checks nothing and takes no secrets") }
        case .signed(let signed):
            do throws(SignatureSchemeError) {
                _ = try signed.scheme(secrets: secrets, window: window)
            } catch {
                switch error {
                case .noSecret: fault("/secrets", "minItems", "scheme \(scheme.name) needs at least one secret")
                case .secretInvalid:
                    fault("/secrets", "pattern", "a secret is not of the form scheme \(scheme.name) has")
                case .templateInvalid: fault("/scheme", "template", "the scheme's template is not acceptable")
                case .settingMissing(let member):
                    fault("", "required", "scheme \(scheme.name) needs the member \(member.rawValue)")
                case .settingInvalid(let member):
                    fault("/\(member.rawValue)", "format", "\(member.rawValue) is not acceptable")
                }
            }
        }
    }

    mutating func window() -> ReplayWindow {
        guard let value = root["window_seconds"], !value.isNull else { return .standard }
        guard let seconds = value.integer, ReplayWindow.permittedSeconds.contains(seconds) else {
            let permitted = ReplayWindow.permittedSeconds
            fault(
                "/window_seconds", "range",
                "window_seconds must be a whole number from \(permitted.lowerBound) to \(permitted.upperBound)")
            return .standard
        }
        return ReplayWindow(seconds: seconds)
    }

    mutating func mapping() -> Mapping? {
        guard let text = document.text.rawMember("mapping") else {
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

    mutating func description() -> String {
        guard let value = root["description"], !value.isNull else { return "" }
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
