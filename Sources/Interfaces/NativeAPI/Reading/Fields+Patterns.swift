import ChatModel

extension Fields {
    /// The patterns of a list; nil for null and what is left out.
    ///
    /// - Parameter check: the rule for the names the patterns are over.
    func namePatterns(
        _ name: String, _ limits: Limits, of check: (String) throws(ChatError) -> Void
    ) throws(ChatError) -> [NamePattern]? {
        guard let texts = try strings(name) else { return nil }
        guard (1...limits.streamChannels).contains(texts.count) else {
            throw fault(name, "range", "must be a list of 1 to \(limits.streamChannels) patterns")
        }
        return try NamePattern.list(texts, of: check) { index, detail throws(ChatError) in
            throw fault(name, "pattern", "item \(index): \(detail)")
        }
    }
}
