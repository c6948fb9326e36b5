import Glibc
package import JSON

/// A JSON value given as an argument: the text itself, `@FILE`, or `-` for the standard input.
package enum InputText {
    private static let limit = 16 * 1024 * 1024

    /// Parses an argument as JSON.
    ///
    /// - Throws: a usage error for invalid JSON; a failure when the file cannot be read.
    package static func json(_ argument: String, _ what: String) throws(CommandFailure) -> JSONText {
        if argument == standardInput { return try parse(try source(argument), what) }
        guard argument.hasPrefix("@") else { return try parse(Array(argument.utf8), what) }
        return try parse(try file(String(argument.dropFirst())), what)
    }

    /// Returns the bytes that an argument stands for, without requiring JSON.
    package static func bytes(_ argument: String) throws(CommandFailure) -> [UInt8] {
        if argument == standardInput { return try source(argument) }
        return argument.hasPrefix("@") ? try file(String(argument.dropFirst())) : Array(argument.utf8)
    }

    /// Returns a secret: the argument itself, or the first line of a file (`@FILE`). A file keeps the secret out of
    /// process lists.
    package static func secret(_ argument: String) throws(CommandFailure) -> String {
        guard argument.hasPrefix("@") else { return argument }
        let line = try file(String(argument.dropFirst())).prefix { $0 != 0x0A && $0 != 0x0D }
        guard let text = String(validating: line, as: UTF8.self) else {
            throw CommandFailure("\(argument.dropFirst()) is not UTF-8 text")
        }
        return text
    }

    /// Returns the bytes of a file of at most `limit` bytes.
    package static func file(_ name: String, limit: Int = limit) throws(CommandFailure) -> [UInt8] {
        let descriptor = open(name, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw CommandFailure("\(name): \(String(cString: strerror(errno)))") }
        defer { close(descriptor) }
        return try read(descriptor, name, limit)
    }

    private static let standardInput = "-"

    /// Returns the bytes of a file, or of the standard input (`-`), which can be read only once.
    package static func source(_ name: String, limit: Int = limit) throws(CommandFailure) -> [UInt8] {
        guard name == standardInput else { return try file(name, limit: limit) }
        return try read(CommandEnvironment.current.input, title(of: name), limit)
    }

    /// Returns the name of a source for error messages.
    package static func title(of source: String) -> String { source == standardInput ? "the standard input" : source }

    package static func parse(_ bytes: [UInt8], _ what: String) throws(CommandFailure) -> JSONText {
        do { return try JSONDocument(bytes, numbers: .lenient).text } catch {
            throw CommandFailure("\(what) is not JSON: \(error)", code: 2)
        }
    }

    private static func read(
        _ descriptor: Int32, _ name: String, _ limit: Int = limit
    ) throws(CommandFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw CommandFailure("\(name): \(String(cString: strerror(errno)))") }
            if count == 0 { return bytes }
            bytes += buffer[..<count]
            guard bytes.count <= limit else { throw CommandFailure("\(name) is longer than \(limit) bytes") }
        }
    }
}

/// A request body that is made from a document and from options. Options take precedence over members of the document.
enum RequestDocument {
    /// Returns the body.
    ///
    /// - Parameters:
    ///   - document: a JSON object as text, `@FILE`, or `-` for the standard input; nil for none.
    ///   - options: the members that the options set, in order. The value of an option that was not given is nil.
    /// - Throws: a usage error when the document is not a JSON object.
    static func object(
        _ document: String?, _ options: [(name: String, value: JSONText?)]
    ) throws(CommandFailure) -> JSONText {
        var members: [(name: String, value: JSONText)] = []
        if let document {
            guard let given = try InputText.json(document, "the document").rawMembers() else {
                throw CommandFailure("the document must be a JSON object", code: 2)
            }
            members = given
        }
        for (name, value) in options {
            guard let value else { continue }
            members.removeAll { $0.name == name }
            members.append((name, value))
        }
        return JSONText(members: members)
    }
}

extension JSONText {
    /// Creates the JSON string of an option; nil when the option was not given.
    init?(option text: String?) {
        guard let text else { return nil }
        self.init(string: text)
    }

    /// Parses the JSON value of an option, in the forms of ``InputText``; nil when the option was not given.
    init?(option argument: String?, named name: String) throws(CommandFailure) {
        guard let argument else { return nil }
        self = try InputText.json(argument, name)
    }
}
