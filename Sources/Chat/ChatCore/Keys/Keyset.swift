public import ChatModel

/// The record of an app, and the caller for requests with the app's publish key and subscribe key.
///
/// It is a class, so that requests share one object. The keyring makes a new object when the record or the default rate
/// limits change.
public final class Keyset: Sendable {
    /// The app's record, with its meters.
    public let record: AppRecord
    /// The caller for requests with the app's keys. The keys allow reading, writing and deleting, unless access tokens
    /// restrict the request. The keys identify no user, and the user that a request names is not verified.
    public let caller: Caller

    init(_ record: AppRecord) {
        self.record = record
        caller = Caller(
            app: record.id, credential: record.subscribeKey, scopes: [.emit, .read, .manage], meters: record.meters)
    }

    /// The app's id.
    public var app: AppID { record.id }
}
