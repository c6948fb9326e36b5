import ArgumentParser
import JSON
import JSONSchema

/// The options of all `schema` commands for reading schemas and documents.
struct SchemaInputOptions: ParsableArguments {
    enum Formats: String, ExpressibleByArgument, CaseIterable { case annotate, assert }
    enum Numbers: String, ExpressibleByArgument, CaseIterable { case strict, lenient }

    @Option(help: "The JSON Schema dialect of schemas without $schema.")
    var dialect = Dialect.draft202012

    @Option(
        help:
            "Whether the keyword 'format' rejects documents: assert or annotate; default: assert, but annotate in bench and suite."
    )
    var formats: Formats?

    @Option(
        help: ArgumentHelp(
            "A folder of schemas to which other schemas may refer. A reference is a schema's $id, or its path below BASE (default: the folder's file: URI). May be repeated.",
            valueName: "dir[=base]"))
    var remotes: [String] = []

    @Option(help: "The treatment of integers beyond 64 bits: rejected, or read as doubles.")
    var numbers = Numbers.strict

    @Option(
        name: .customLong("json-access"),
        help: "The method of reading the values of parsed JSON; 'auto' selects the faster method.")
    var access = NodeAccessChoice.automatic

    @Flag(name: .customLong("json"), help: "Print JSON for programs.")
    var isJSON = false

    /// Returns the options of the schema compiler.
    ///
    /// - Parameters:
    ///   - formats: the treatment of `format` if the option is not given.
    ///   - base: the base URI of loaded folders if the option is not given.
    func options(formats standard: Formats = .assert, base: String? = nil) throws(CommandFailure) -> SchemaOptions {
        SchemaOptions(
            dialect: dialect, formats: (formats ?? standard).policy, library: try library(base: base), access: access)
    }

    private func library(base standard: String?) throws(CommandFailure) -> SchemaLibrary {
        var library = SchemaLibrary()
        for remote in remotes {
            let parts = remote.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let base = parts.count > 1 ? parts[1] : standard
            do { try library.add(folder: parts[0], base: base) } catch { throw CommandFailure(error.description) }
        }
        return library
    }

    /// Parses a document as the gateway would parse it.
    func value(_ bytes: [UInt8]) throws(JSONError) -> JSONDocument {
        try JSONDocument(bytes, numbers: numbers.rule)
    }

    /// Reads the schema in a file, or in the standard input (`-`).
    ///
    /// - Throws: `CommandFailure` when the file cannot be read, `SchemaErrorReport` for errors in the schema.
    func schema(_ file: String, _ options: SchemaOptions) throws -> Schema {
        let bytes = try InputText.source(file)
        do {
            // The schema compiler has its own limit of nesting.
            let document = try JSONDocument(bytes, limits: JSONLimits(depth: 2048), numbers: numbers.rule)
            return try Schema(document, options: options)
        } catch let refusal as SchemaError {
            throw SchemaErrorReport(file: file, problems: refusal.problems)
        } catch let error as JSONError {
            throw SchemaErrorReport(file: file, notJSON: error)
        }
    }

    /// Reads a schema. If the schema has errors, prints them to the error output and ends the command.
    func usableSchema(_ file: String, _ options: SchemaOptions) throws -> Schema {
        do { return try schema(file, options) } catch let refused as SchemaErrorReport {
            let errors = CommandEnvironment.current.console.errors
            if isJSON { errors.line(refused.problem.bytes) } else { refused.printReport(errors) }
            throw SchemaCommand.Answer.refused.exit
        }
    }
}

extension SchemaInputOptions.Formats {
    var policy: FormatPolicy {
        switch self {
        case .annotate: .annotate
        case .assert: .assert
        }
    }
}

extension SchemaInputOptions.Numbers {
    var rule: JSONNumbers {
        switch self {
        case .strict: .strict
        case .lenient: .lenient
        }
    }
}
