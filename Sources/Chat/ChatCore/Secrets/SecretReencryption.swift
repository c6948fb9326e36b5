public import ChatModel
import JSON
import Signing

/// Encrypts all stored secrets with the first key of the vault: secrets that are stored in plain text, and secrets
/// encrypted with an older key. After one start with both keys, the older key can be removed from the settings.
///
/// The re-encryption runs before any other code reads the records. So a missing key is detected. Otherwise, an app or a
/// webhook whose secret cannot be decrypted would disappear without an error.
struct SecretReencryption {
    let directory: any Directory
    let vault: Vault

    /// Re-encrypts the secrets of all records.
    ///
    /// - Returns: the number of records that were rewritten.
    /// - Throws: `.unavailable` with the record and the id of the missing key in the message; the errors of the
    ///   directory of records.
    func run() async throws(ChatError) -> Int {
        var count = try await reseal(.setting, in: .gateway)
        var apps: [AppID] = []
        count += try await reseal(.app, in: .gateway) { apps.append(AppID($0.key.id)) }
        for app in apps {
            count += try await reseal(.webhook, in: app)
            count += try await reseal(.source, in: app)
        }
        return count
    }

    private func reseal(
        _ kind: RecordKind, in app: AppID, _ visit: (Record) -> Void = { _ in }
    ) async throws(ChatError) -> Int {
        var query = RecordQuery(kind, in: app, limit: 500)
        var count = 0
        while true {
            let page = try await directory.list(query)
            for record in page.items {
                visit(record)
                let body = try resealed(record)
                guard body != record.body else { continue }
                do {
                    let change = RecordChange(
                        record.key, body: body, parent: record.parent, precondition: .etag(record.etag))
                    _ = try await directory.write([change])
                    count += 1
                } catch  where error.code == .stale || error.code == .notFound {
                    // Another node, which also has the first key, wrote or removed the record meanwhile.
                }
            }
            guard let cursor = page.cursor else { return count }
            query.cursor = cursor
        }
    }

    private func resealed(_ record: Record) throws(ChatError) -> JSONText {
        guard let members = record.body.rawMembers() else { return record.body }
        var writer = JSONWriter(capacity: record.body.count * 2)
        writer.beginObject()
        for (name, value) in members {
            writer.key(text: name)
            guard let place = SecretPlace(record.key.kind, name) else {
                writer.raw(value)
                continue
            }
            do throws(VaultError) {
                writer.raw(try resealed(value, member: nil, place, record.key.vaultContext))
            } catch {
                throw ChatError(
                    .unavailable, "\(record.key.vaultContext): \(name): \(error); is a key missing in secrets_key?")
            }
        }
        writer.endObject()
        return JSONText(trusted: writer.bytes)
    }

    private func resealed(
        _ value: JSONText, member: String?, _ place: SecretPlace, _ context: String
    ) throws(VaultError) -> JSONText {
        if let members = value.rawMembers() {
            var writer = JSONWriter(capacity: value.count * 2)
            writer.beginObject()
            for (name, inner) in members {
                writer.key(text: name)
                writer.raw(try resealed(inner, member: name, place, context))
            }
            writer.endObject()
            return JSONText(trusted: writer.bytes)
        }
        if let elements = value.rawElements() {
            var writer = JSONWriter(capacity: value.count * 2)
            writer.beginArray()
            for inner in elements { writer.raw(try resealed(inner, member: member, place, context)) }
            writer.endArray()
            return JSONText(trusted: writer.bytes)
        }
        guard value.bytes.first == UInt8(ascii: "\""), let text = (try? JSONDocument(value.bytes))?.root.string,
            !vault.isCurrent(text), place.holds(text, as: member, vault)
        else { return value }
        return JSONText(string: vault.seal(try vault.open(text, context: context), context: context))
    }
}

/// Identifies the texts that are secrets in one member of a record. Only these texts are re-encrypted. All other texts
/// may come from users, and stay unchanged even when they look encrypted.
private struct SecretPlace {
    /// The names of the nested members that are secrets; nil when every text is a secret.
    private let members: Set<String>?
    /// True when the gateway stored the member's secrets in plain text before it had a vault.
    private let wasClear: Bool

    init?(_ kind: RecordKind, _ member: String) {
        switch (kind, member) {
        case (.app, "secret_key"), (.source, "secrets"): (members, wasClear) = (nil, true)
        case (.webhook, "secrets"): (members, wasClear) = (["key"], true)
        case (.app, "previous_secret_key"), (.webhook, "headers"), (.webhook, "app_key"),
            (.webhook, "previous_app_key"), (.source, "verify_token"),
            (.setting, "key"), (.setting, "previous_key"):
            (members, wasClear) = (nil, false)
        case (.webhook, "auth"): (members, wasClear) = (["password", "token", "client_secret"], false)
        case (.webhook, "tls"): (members, wasClear) = (["private_key"], false)
        default: return nil
        }
    }

    /// Returns true when a text in the record's member is a secret that the vault can encrypt now.
    func holds(_ text: String, as member: String?, _ vault: Vault) -> Bool {
        guard members?.contains(member ?? "") != false else { return false }
        return Vault.isStoredForm(text) || (wasClear && vault.seals)
    }
}

extension RecordKey {
    /// The context of the encrypted secrets of a record, which binds them to the record: `app/demo`, `webhook/wh_…` or
    /// `source/github`. All secrets of a record have the same context, so `SecretReencryption` can decrypt each of
    /// them.
    public var vaultContext: String { "\(kind)/\(id)" }
}
