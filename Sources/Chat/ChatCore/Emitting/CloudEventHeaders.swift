public import ChatModel
import Text

/// Reads the header fields of a CloudEvent in binary mode (CloudEvents HTTP protocol binding 1.0.2, section 3.1).
public enum CloudEventHeaders {
    /// The name and the value of a header field.
    public typealias Field = (name: String, value: String)

    /// Returns the attributes from the header fields named `ce-…`, in the order of the fields. Their names are in lower
    /// case and without the prefix.
    ///
    /// - Throws: `.malformed` with the slug `bad_cloud_event` for an attribute that appears twice or is not UTF-8, and
    ///   for `datacontenttype`, which belongs in the field `Content-Type`.
    public static func attributes(of fields: some Sequence<Field>) throws(ChatError) -> [Field] {
        var attributes: [Field] = []
        var names: Set<String> = []
        for field in fields where field.name.utf8.count > 3 {
            let header = field.name.lowercased()
            guard header.hasPrefix("ce-") else { continue }
            let name = String(header.dropFirst(3))
            guard name != "datacontenttype" else {
                throw fault("'datacontenttype' must be sent as Content-Type, not as a separate header field")
            }
            guard let value = decoded(field.value) else {
                throw fault("the header field '\(header.prefix(64))' is not UTF-8")
            }
            guard names.insert(name).inserted else {
                throw fault("the header field '\(header.prefix(64))' was sent twice; send it once")
            }
            attributes.append((name, value))
        }
        return attributes
    }

    /// Returns a value without its optional quotes, percent-decoded exactly once (section 3.1.3.2). Nil when an escape
    /// is invalid or the result is not UTF-8.
    private static func decoded(_ value: String) -> String? {
        let bytes = Array(value.utf8)
        guard bytes.count >= 2, bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\"") else {
            return PercentEncoding.decode(bytes)
        }
        var output: [UInt8] = []
        var quoted = bytes[1..<bytes.count - 1].makeIterator()
        while let byte = quoted.next() {
            output.append(byte == UInt8(ascii: "\\") ? quoted.next() ?? byte : byte)
        }
        return PercentEncoding.decode(output)
    }

    private static func fault(_ detail: String) -> ChatError {
        ChatError(.malformed, detail, slug: "bad_cloud_event")
    }
}
