import JSON

extension Observation {
    /// Prints the keywords that describe the observed values. The writer must be inside an object.
    func print(into writer: inout JSONWriter, _ options: InferenceOptions) {
        printType(into: &writer)
        if sorts.isSubset(of: [.string, .null]), strings.isEnumeration(options) {
            writer.key("enum")
            writer.beginArray()
            for word in strings.words { writer.string(word.text) }
            // An `enum` restricts values of all types, so null must also be listed.
            if sorts.contains(.null) { writer.null() }
            writer.endArray()
        } else if let format = strings.format {
            writer.member("format", format.name)
        }
        printMembers(into: &writer, options)
        if let items = items.first {
            writer.key("items")
            writer.beginObject()
            items.print(into: &writer, options)
            writer.endObject()
        }
    }

    private func printType(into writer: inout JSONWriter) {
        // `integer` is omitted if `number` is listed, because `number` includes integers.
        let names = Sort.allCases.filter { sorts.contains($0) && !($0 == .integer && sorts.contains(.number)) }
            .map { "\($0)" }
        if names.count == 1 { return writer.member("type", names[0]) }
        // `type` is omitted when no types were observed.
        if !names.isEmpty { writer.member("type", names) }
    }

    private func printMembers(into writer: inout JSONWriter, _ options: InferenceOptions) {
        guard objects > 0 else { return }
        if !members.isEmpty {
            writer.key("properties")
            writer.beginObject()
            for member in members {
                writer.key(text: member.name.text)
                writer.beginObject()
                member.value.print(into: &writer, options)
                writer.endObject()
            }
            writer.endObject()
        }
        let required = members.filter { $0.count == objects }
        if !required.isEmpty { writer.member("required", required.map(\.name.text)) }
        if options.closesObjects, !isPartial { writer.member("additionalProperties", false) }
    }
}
