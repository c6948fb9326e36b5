import JSON

/// The parts of a response that a client's decoder cannot read. Its requirements were taken from released decoders:
/// each names a member by its path and the kinds of values that it may have.
struct StrictDecoder {
    private(set) var faults: [String] = []

    mutating func precondition(
        _ path: String, in value: JSONValue?, _ kinds: JSONValue.Kind..., orAbsent isOptional: Bool = false
    ) {
        var found = value
        for name in path.split(separator: ".") { found = found?[String(name)] }
        guard let found else {
            if !isOptional { faults.append("no \(path)") }
            return
        }
        // Without kinds, any value is valid.
        if !kinds.isEmpty, !kinds.contains(found.kind) { faults.append("\(path) is of kind \(found.kind)") }
    }

    mutating func precondition(_ path: String, in value: JSONValue?, oneOf words: Set<String>) {
        var found = value
        for name in path.split(separator: ".") { found = found?[String(name)] }
        if !words.contains(found?.string ?? "") { faults.append("\(path) is \(found?.string ?? "no word")") }
    }

    mutating func precondition(_ path: String, in value: JSONValue?, matches pattern: Regex<Substring>) {
        var found = value
        for name in path.split(separator: ".") { found = found?[String(name)] }
        if (found?.string ?? "").wholeMatch(of: pattern) == nil {
            faults.append("\(path) is \(found?.string ?? "no text")")
        }
    }
}

// MARK: - Swift

extension StrictDecoder {
    /// A single undecodable item fails the whole batch and ends the client's loop.
    static func swift(batch: JSONValue?) -> [String] {
        var decoder = StrictDecoder()
        decoder.precondition("t.t", in: batch, .string)
        decoder.precondition("t.r", in: batch, .integer, orAbsent: true)
        decoder.precondition("m", in: batch, .array)
        for item in batch?["m"]?.elements ?? [] { decoder.readSwift(item) }
        return decoder.faults
    }

    private mutating func readSwift(_ item: JSONValue) {
        for name in ["a", "k", "c"] { precondition(name, in: item, .string) }
        for name in ["i", "b", "cmt"] { precondition(name, in: item, .string, orAbsent: true) }
        for name in ["e", "s"] { precondition(name, in: item, .integer, orAbsent: true) }
        precondition("f", in: item, .integer)
        precondition("d", in: item)
        precondition("p.t", in: item, .string)
        precondition("p.r", in: item, .integer, orAbsent: true)
        if item["c"]?.string?.hasSuffix("-pnpres") == true { return readSwiftPresence(item["d"]) }
        switch item["e"]?.integer {
        case 2: readSwiftObject(item["d"])
        case 3:
            precondition("event", in: item["d"], oneOf: ["added", "removed"])
            for name in ["messageTimetoken", "type", "value", "actionTimetoken"] {
                precondition("data." + name, in: item["d"], .string)
            }
        case 4: for name in ["file.id", "file.name"] { precondition(name, in: item["d"], .string) }
        default: break
        }
    }

    private mutating func readSwiftPresence(_ data: JSONValue?) {
        precondition("action", in: data, oneOf: ["join", "leave", "timeout", "state-change", "interval"])
        precondition("timestamp", in: data, .integer)
        precondition("occupancy", in: data, .integer)
        precondition("uuid", in: data, .string, orAbsent: true)
        precondition("data", in: data, .object, orAbsent: true)
        for name in ["join", "leave", "timeout"] { precondition(name, in: data, .array, orAbsent: true) }
    }

    private mutating func readSwiftObject(_ data: JSONValue?) {
        precondition("source", in: data, .string)
        precondition("version", in: data, .string)
        precondition("type", in: data, oneOf: ["uuid", "channel", "membership"])
        precondition("event", in: data, oneOf: ["set", "delete"])
        let isMembership = data?["type"]?.string == "membership"
        for name in isMembership ? ["channel.id", "uuid.id"] : ["id"] {
            precondition("data." + name, in: data, .string)
        }
        guard isMembership || data?["event"]?.string == "set" else { return }
        precondition("data.updated", in: data, matches: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}Z/)
        precondition("data.eTag", in: data, .string)
    }

    /// History, with actions or without, message counts and deletions.
    static func swift(history answer: JSONValue?) -> [String] {
        var decoder = StrictDecoder()
        decoder.precondition("status", in: answer, .integer)
        decoder.precondition("error", in: answer, .boolean)
        decoder.precondition("error_message", in: answer, .string)
        for (_, items) in answer?["channels"]?.members ?? [] {
            for item in items.elements ?? [] {
                decoder.precondition("message", in: item)
                decoder.precondition("timetoken", in: item, .string)
                decoder.precondition("message_type", in: item, .integer, .null, orAbsent: true)
                decoder.precondition("custom_message_type", in: item, .string, .null, orAbsent: true)
                decoder.precondition("uuid", in: item, .string, orAbsent: true)
                for (_, values) in item["actions"]?.members ?? [] {
                    for action in (values.members ?? []).flatMap({ $0.value.elements ?? [] }) {
                        decoder.precondition("uuid", in: action, .string)
                        decoder.precondition("actionTimetoken", in: action, .string)
                    }
                }
            }
        }
        return decoder.faults
    }

    /// The text that it makes of an error, for every API family.
    static func swift(error answer: JSONValue?) -> [String] {
        var decoder = StrictDecoder()
        guard answer?.kind == .object else { return ["no object"] }
        decoder.precondition("error", in: answer, .boolean, .string, .object)
        for (name, names) in answer?["payload"]?.members ?? [] where names.strings == nil {
            decoder.faults.append("payload.\(name) is no list of strings")
        }
        for detail in answer?["error"]?["details"]?.elements ?? [] {
            for name in ["message", "location", "locationType"] { decoder.precondition(name, in: detail, .string) }
        }
        return decoder.faults
    }
}

// MARK: - Python

extension StrictDecoder {
    static func python(batch: JSONValue?) -> [String] {
        var decoder = StrictDecoder()
        decoder.precondition("t.t", in: batch, matches: /[0-9]+/)
        decoder.precondition("t.r", in: batch, .integer)
        for item in batch?["m"]?.elements ?? [] {
            for name in ["c", "d", "f", "k", "p.t", "p.r"] { decoder.precondition(name, in: item) }
            // The suffix counts wherever it stands in the name.
            if item["c"]?.string?.contains("-pnpres") == true {
                decoder.precondition("action", in: item["d"], .string)
                decoder.precondition("occupancy", in: item["d"], .integer)
                decoder.precondition("timestamp", in: item["d"], .integer)
                decoder.precondition("data", in: item["d"], .object, orAbsent: true)
            } else if item["e"]?.integer == 2 {
                for name in ["type", "event", "data"] { decoder.precondition(name, in: item["d"]) }
            }
        }
        return decoder.faults
    }
}
