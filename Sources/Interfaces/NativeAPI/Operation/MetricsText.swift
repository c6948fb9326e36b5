/// Prints the Prometheus text format 0.0.4: families of samples, each with its help and type.
struct MetricsText {
    private(set) var bytes: [UInt8] = []

    enum Kind: String { case counter, gauge, histogram }

    /// Begins a family; its samples follow.
    mutating func family(_ name: String, _ kind: Kind, _ help: String) {
        line("# HELP \(name) \(help)")
        line("# TYPE \(name) \(kind.rawValue)")
    }

    /// A family with one sample.
    mutating func single(_ name: String, _ kind: Kind, _ help: String, _ value: some Numeric) {
        family(name, kind, help)
        sample(name, [], value)
    }

    /// - Parameter labels: values come from our own tables, never from clients, so that their number is bounded.
    mutating func sample(_ name: String, _ labels: [(name: String, value: String)], _ value: some Numeric) {
        guard !labels.isEmpty else { return line("\(name) \(value)") }
        let printed = labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
        line("\(name){\(printed)} \(value)")
    }

    private mutating func line(_ text: String) {
        bytes.append(contentsOf: text.utf8)
        bytes.append(0x0A)
    }

    private static func escaped(_ value: String) -> String {
        var text = ""
        for character in value {
            switch character {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.append(character)
            }
        }
        return text
    }
}
