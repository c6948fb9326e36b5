import ChatModel
import JSON

/// The elements of a JSON array of events, each with its bytes and its place for pointers. Bounded by
/// `Limits.batchEvents`; never empty.
struct BatchElements: Sequence {
    struct Element {
        let value: JSONValue
        let text: JSONText
        let pointer: String

        func fields(known: [String]?) throws(ChatError) -> Fields {
            try Fields(value, text: text, pointer: pointer, known: known)
        }
    }

    private let elements: [Element]

    /// A body that is an array.
    init(_ body: [UInt8], limits: Limits) throws {
        let document = try Fields.parse(body, limits: limits)
        try self.init(document.root, text: document.text, pointer: "#", limits: limits)
    }

    init(_ value: JSONValue, text: JSONText, pointer: String, limits: Limits) throws(ChatError) {
        guard let values = value.elements, let texts = text.rawElements() else {
            throw Fields.wrongType(pointer, expected: "array", value)
        }
        guard values.count <= limits.batchEvents else {
            throw ChatError.over(
                .tooLarge, "\(values.count) events in one request; at most \(limits.batchEvents) are accepted",
                slug: "too_many_events", limit: limits.batchEvents
            ).pointed(at: pointer)
        }
        guard !values.isEmpty else {
            throw Fields.fault(pointer, "items", "at least one event is needed", slug: "bad_member")
        }
        elements = zip(values, texts).enumerated().map { index, element in
            Element(value: element.0, text: element.1, pointer: "\(pointer)/\(index)")
        }
    }

    func makeIterator() -> IndexingIterator<[Element]> { elements.makeIterator() }
}
