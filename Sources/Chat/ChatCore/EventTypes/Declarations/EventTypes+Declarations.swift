public import ChatModel
import Locking

/// The result of a file's declaration.
public struct DeclarationResult: Sendable, Equatable {
    /// The event type's name.
    public var name: String
    /// The number of the newest version; zero when there is no schema.
    public var version: Int
    /// True when the declaration added a version.
    public var isNewVersion: Bool
}

extension EventTypes {
    /// Updates an app's event types to the declarations of files: all of them or, when one is refused, none. The call
    /// is idempotent.
    ///
    /// Types of other origins, and types whose file is gone, are not changed.
    ///
    /// - Throws: `DeclarationError` naming the file and the place in it.
    public func apply(
        _ declarations: [EventTypeDeclaration], to app: AppID
    ) async throws(DeclarationError) -> [DeclarationResult] {
        // The file being processed when the registry throws.
        let file = Lock<String?>(nil)
        do throws(ChatError) {
            return try await settling(.none, in: app) { () async throws(ChatError) in
                var change = Change()
                var applied: [DeclarationResult] = []
                var added = 0
                for declaration in declarations {
                    file.withLock { $0 = declaration.file }
                    let one = try await self.changing(declaration, others: added, in: app)
                    change.records += one.change.records
                    change.prepared.versions.merge(one.change.prepared.versions) { _, new in new }
                    applied.append(one.applied)
                    added += one.isNew ? 1 : 0
                }
                file.withLock { $0 = nil }
                _ = try await self.write(change.records, change.prepared)
                return applied
            }
        } catch {
            guard let file = file.withLock({ $0 }) else {
                throw DeclarationError("the declarations", "cannot be stored: \(error.message)")
            }
            throw DeclarationError(file, error)
        }
    }

    private func changing(
        _ declaration: EventTypeDeclaration, others: Int, in app: AppID
    ) async throws(ChatError) -> (change: Change, applied: DeclarationResult, isNew: Bool) {
        let old = try await stored(declaration.name, in: app)
        let type = try await declaring(
            declaration.name, declaration.settings, origin: .file, over: old, others: others, in: app)
        guard let proposal = declaration.proposal else {
            let applied = DeclarationResult(name: type.name, version: type.latestVersion, isNewVersion: false)
            return (try await change(type, from: old, in: app), applied, old == nil)
        }
        let proposed = try await proposing(proposal, for: type, from: old, in: app)
        let applied = DeclarationResult(
            name: type.name, version: proposed.type.latestVersion, isNewVersion: proposed.version != nil)
        return (proposed.change, applied, old == nil)
    }
}
