public import ChatModel
import Locking

/// The result of applying one declaration file.
public struct DeclarationResult: Sendable, Equatable {
    /// The name of the event type.
    public var name: String
    /// The number of the newest version; zero when the type has no version.
    public var version: Int
    /// True when the declaration added a version.
    public var isNewVersion: Bool
}

extension EventTypes {
    /// Applies the declarations of files to an app's event types. If a declaration is rejected, none is applied.
    /// Repeating the call has no further effect.
    ///
    /// Types that no file declares are not changed. A type whose file was deleted also stays.
    ///
    /// - Throws: `DeclarationError` with the name of the file and the location in it.
    public func apply(
        _ declarations: [EventTypeDeclaration], to app: AppID
    ) async throws(DeclarationError) -> [DeclarationResult] {
        // The name of the file that is being processed, for the error.
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
                throw DeclarationError("the declared event types", "cannot be stored: \(error.message)")
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
