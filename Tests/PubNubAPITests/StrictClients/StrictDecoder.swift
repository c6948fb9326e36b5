import JSON

/// The parts of a response that a client's decoder cannot read. Its requirements were taken from released decoders:
/// each names a member by its path and the kinds of values that it may have.
struct StrictDecoder {
    private(set) var faults: [String] = []

    mutating func demand(
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

    mutating func demand(_ path: String, in value: JSONValue?, oneOf words: Set<String>) {
        var found = value
        for name in path.split(separator: ".") { found = found?[String(name)] }
        if !words.contains(found?.string ?? "") { faults.append("\(path) is \(found?.string ?? "no word")") }
    }

    mutating func demand(_ path: String, in value: JSONValue?, matches pattern: Regex<Substring>) {
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
        decoder.demand("t.t", in: batch, .string)
        decoder.demand("t.r", in: batch, .integer, orAbsent: true)
        decoder.demand("m", in: batch, .array)
        for item in batch?["m"]?.elements ?? [] { decoder.readSwift(item) }
        return decoder.faults
    }

    private mutating func readSwift(_ item: JSONValue) {
        for name in ["a", "k", "c"] { demand(name, in: item, .string) }
        for name in ["i", "b", "cmt"] { demand(name, in: item, .string, orAbsent: true) }
        for name in ["e", "s"] { demand(name, in: item, .integer, orAbsent: true) }
        demand("f", in: item, .integer)
        demand("d", in: item)
        demand("p.t", in: item, .string)
        demand("p.r", in: item, .integer, orAbsent: true)
        if item["c"]?.string?.hasSuffix("-pnpres") == true { return readSwiftPresence(item["d"]) }
        switch item["e"]?.integer {
        case 2: readSwiftObject(item["d"])
        case 3:
            demand("event", in: item["d"], oneOf: ["added", "removed"])
            for name in ["messageTimetoken", "type", "value", "actionTimetoken"] {
                demand("data." + name, in: item["d"], .string)
            }
        case 4: for name in ["file.id", "file.name"] { demand(name, in: item["d"], .string) }
        default: break
        }
    }

    private mutating func readSwiftPresence(_ data: JSONValue?) {
        demand("action", in: data, oneOf: ["join", "leave", "timeout", "state-change", "interval"])
        demand("timestamp", in: data, .integer)
        demand("occupancy", in: data, .integer)
        demand("uuid", in: data, .string, orAbsent: true)
        demand("data", in: data, .object, orAbsent: true)
        for name in ["join", "leave", "timeout"] { demand(name, in: data, .array, orAbsent: true) }
    }

    private mutating func readSwiftObject(_ data: JSONValue?) {
        demand("source", in: data, .string)
        demand("version", in: data, .string)
        demand("type", in: data, oneOf: ["uuid", "channel", "membership"])
        demand("event", in: data, oneOf: ["set", "delete"])
        let isMembership = data?["type"]?.string == "membership"
        for name in isMembership ? ["channel.id", "uuid.id"] : ["id"] { demand("data." + name, in: data, .string) }
        guard isMembership || data?["event"]?.string == "set" else { return }
        demand("data.updated", in: data, matches: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}Z/)
        demand("data.eTag", in: data, .string)
    }

    /// History, with actions or without, message counts and deletions.
    static func swift(history answer: JSONValue?) -> [String] {
        var decoder = StrictDecoder()
        decoder.demand("status", in: answer, .integer)
        decoder.demand("error", in: answer, .boolean)
        decoder.demand("error_message", in: answer, .string)
        for (_, items) in answer?["channels"]?.members ?? [] {
            for item in items.elements ?? [] {
                decoder.demand("message", in: item)
                decoder.demand("timetoken", in: item, .string)
                decoder.demand("message_type", in: item, .integer, .null, orAbsent: true)
                decoder.demand("custom_message_type", in: item, .string, .null, orAbsent: true)
                decoder.demand("uuid", in: item, .string, orAbsent: true)
                for (_, values) in item["actions"]?.members ?? [] {
                    for action in (values.members ?? []).flatMap({ $0.value.elements ?? [] }) {
                        decoder.demand("uuid", in: action, .string)
                        decoder.demand("actionTimetoken", in: action, .string)
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
        decoder.demand("error", in: answer, .boolean, .string, .object)
        for (name, names) in answer?["payload"]?.members ?? [] where names.strings == nil {
            decoder.faults.append("payload.\(name) is no list of strings")
        }
        for detail in answer?["error"]?["details"]?.elements ?? [] {
            for name in ["message", "location", "locationType"] { decoder.demand(name, in: detail, .string) }
        }
        return decoder.faults
    }
}

// MARK: - Python

extension StrictDecoder {
    static func python(batch: JSONValue?) -> [String] {
        var decoder = StrictDecoder()
        decoder.demand("t.t", in: batch, matches: /[0-9]+/)
        decoder.demand("t.r", in: batch, .integer)
        for item in batch?["m"]?.elements ?? [] {
            for name in ["c", "d", "f", "k", "p.t", "p.r"] { decoder.demand(name, in: item) }
            // The suffix counts wherever it stands in the name.
            if item["c"]?.string?.contains("-pnpres") == true {
                decoder.demand("action", in: item["d"], .string)
                decoder.demand("occupancy", in: item["d"], .integer)
                decoder.demand("timestamp", in: item["d"], .integer)
                decoder.demand("data", in: item["d"], .object, orAbsent: true)
            } else if item["e"]?.integer == 2 {
                for name in ["type", "event", "data"] { decoder.demand(name, in: item["d"]) }
            }
        }
        return decoder.faults
    }
}
