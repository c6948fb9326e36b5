internal import CYAML

extension YAMLNode {
    /// Parses a text that contains one YAML document. The text may have at most 1 MiB and a nesting depth of 64.
    ///
    /// - Returns: the root node; `nil` for a text without content.
    /// - Throws: `YAMLError` if the text is not YAML, contains a duplicate key, an anchor, an alias or a second
    ///   document, or exceeds the limits.
    public static func parse(_ text: String) throws(YAMLError) -> YAMLNode? {
        try parse(text, limits: YAMLLimits())
    }

    static func parse(_ text: String, limits: YAMLLimits) throws(YAMLError) -> YAMLNode? {
        let bytes = Array(text.utf8)
        guard bytes.count <= limits.bytes else {
            throw YAMLError(
                reason: "the text has \(bytes.count) bytes; at most \(limits.bytes) are allowed",
                place: YAMLPlace(line: 1, column: 1))
        }
        let result = bytes.withUnsafeBufferPointer { buffer -> Result<YAMLNode?, YAMLError> in
            do throws(YAMLError) {
                var parser = try YAMLParser(buffer, limits: limits)
                defer { parser.end() }
                return .success(try parser.document())
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}

/// Creates nodes from libyaml's events. Call `end` once, while the bytes still exist.
private struct YAMLParser {
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let bytes: UnsafeBufferPointer<UInt8>
    private var event: yaml_event_t
    private let limits: YAMLLimits
    private var depth = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>, limits: YAMLLimits) throws(YAMLError) {
        self.bytes = bytes
        self.limits = limits
        event = yaml_event_t()
        // The parser has a fixed address, because libyaml stores pointers into it.
        parser = .allocate(capacity: 1)
        parser.initialize(to: yaml_parser_t())
        // The call fails only when memory cannot be allocated.
        guard yaml_parser_initialize(parser) == 1 else {
            parser.deallocate()
            throw YAMLError(reason: "not enough memory to read the text", place: YAMLPlace(line: 1, column: 1))
        }
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        yaml_parser_set_input_string(parser, bytes.baseAddress, bytes.count)
    }

    mutating func end() {
        yaml_event_delete(&event)
        yaml_parser_delete(parser)
        parser.deinitialize(count: 1)
        parser.deallocate()
    }

    mutating func document() throws(YAMLError) -> YAMLNode? {
        try next()  // the stream's start
        try next()
        guard event.type == YAML_DOCUMENT_START_EVENT else { return nil }
        try next()
        let node = try node()
        try next()  // the document's end
        try next()
        guard event.type == YAML_STREAM_END_EVENT else {
            throw failure("the text has a second YAML document; remove the second document")
        }
        return node
    }

    /// Returns the node that begins at the current event.
    private mutating func node() throws(YAMLError) -> YAMLNode {
        let place = place
        switch event.type {
        case YAML_SCALAR_EVENT:
            let scalar = event.data.scalar
            try refuse(anchor: scalar.anchor)
            let bytes = UnsafeBufferPointer(start: scalar.value, count: scalar.length)
            return YAMLNode(value: .scalar(String(decoding: bytes, as: UTF8.self)), place: place)
        case YAML_SEQUENCE_START_EVENT:
            try refuse(anchor: event.data.sequence_start.anchor)
            try descend()
            var elements: [YAMLNode] = []
            try next()
            while event.type != YAML_SEQUENCE_END_EVENT {
                elements.append(try node())
                try next()
            }
            depth -= 1
            return YAMLNode(value: .sequence(elements), place: place)
        case YAML_MAPPING_START_EVENT:
            try refuse(anchor: event.data.mapping_start.anchor)
            try descend()
            let pairs = try pairs()
            depth -= 1
            return YAMLNode(value: .mapping(pairs), place: place)
        default: throw isAlias  // the only other event that can begin a node
        }
    }

    private mutating func pairs() throws(YAMLError) -> [(key: YAMLNode, value: YAMLNode)] {
        var pairs: [(key: YAMLNode, value: YAMLNode)] = []
        var names: Set<String> = []
        try next()
        while event.type != YAML_MAPPING_END_EVENT {
            let key = try node()
            if let name = key.string, !names.insert(name).inserted {
                throw YAMLError(reason: "duplicate key '\(name)'", place: key.place)
            }
            try next()
            pairs.append((key, try node()))
            try next()
        }
        return pairs
    }

    private func refuse(anchor: UnsafeMutablePointer<yaml_char_t>?) throws(YAMLError) {
        guard anchor == nil else { throw isAlias }
    }

    private var isAlias: YAMLError { failure("anchors and aliases are not supported; write the value in full") }

    private mutating func descend() throws(YAMLError) {
        depth += 1
        guard depth <= limits.depth else {
            throw failure("collections are nested deeper than \(limits.depth) levels")
        }
    }

    private mutating func next() throws(YAMLError) {
        yaml_event_delete(&event)
        guard yaml_parser_parse(parser, &event) == 1 else { throw problem }
    }

    private var place: YAMLPlace { YAMLPlace(event.start_mark) }

    private func failure(_ reason: String) -> YAMLError { YAMLError(reason: reason, place: place) }

    /// The error that libyaml has reported.
    private var problem: YAMLError {
        let state = parser.pointee
        let problem = state.problem.map { String(cString: $0) } ?? "not enough memory to read the text"
        // An error of libyaml's reader, for instance for a control character, has an offset in bytes instead of a mark.
        if state.error == YAML_READER_ERROR {
            return YAMLError(reason: problem, place: YAMLPlace(after: bytes.prefix(state.problem_offset)))
        }
        let context = state.context.map { String(cString: $0) + ": " } ?? ""
        return YAMLError(reason: context + problem, place: YAMLPlace(state.problem_mark))
    }
}

extension YAMLPlace {
    /// Creates the position after these UTF-8 bytes.
    fileprivate init(after bytes: Slice<UnsafeBufferPointer<UInt8>>) {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let characters = String(decoding: lines.last ?? bytes, as: UTF8.self).unicodeScalars
        self.init(line: lines.count, column: characters.count + 1)
    }

    fileprivate init(_ mark: yaml_mark_t) { self.init(line: Int(mark.line) + 1, column: Int(mark.column) + 1) }
}
