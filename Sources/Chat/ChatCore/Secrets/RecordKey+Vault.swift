public import ChatModel

extension RecordKey {
    /// What binds the sealed secrets of a record to it: `app/demo`, `webhook/wh_…`, `source/github`. The same for all secrets of one
    /// record, so that `SecretReencryption` can open them without knowing what they are.
    public var vaultContext: String { "\(kind)/\(id)" }
}
