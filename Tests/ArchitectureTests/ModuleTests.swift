import Foundation
import Testing

/// A module of `Package.swift`: its layer, its name, and what it may import.
private struct Module {
    let layer: String
    let name: String
    let imports: Set<String>

    var folder: String { "\(layer)/\(name)" }

    /// The modules in `Package.swift`, which is the only place that lists them.
    static func all() throws -> [Module] {
        let manifest = try text("Package.swift")
        let pattern = /module\(\s*"(\w+)", "(\w+)"(?:,\s*uses: \[(?<uses>[^\]]*)\])?/
        return manifest.matches(of: pattern).map { match in
            Module(
                layer: String(match.1), name: String(match.2), imports: imports(String(match.output.uses ?? "")))
        }
    }

    /// Parses an import list: names in quotes are modules, and the others are constants for products of packages.
    private static func imports(_ uses: String) -> Set<String> {
        let products = ["argumentParser": "ArgumentParser", "logging": "Logging"]
        let words = uses.split { $0 == "," || $0.isWhitespace }.map { String($0).replacing("\"", with: "") }
        return Set(words.map { products[$0] ?? $0 })
    }
}

/// The folders of a module that may import a C library. A module that is not listed may import it in any folder.
private let libraryFolders: [String: [String]] = [
    "Toolkit/JSON": ["Jansson/"],
    "Toolkit/JSONSchema": ["Documents/"],
    "Toolkit/Postgres": ["Libpq/"],
    "Toolkit/HTTPServer": ["Microhttpd/", "Loop/"],
    "Toolkit/HTTPClient": ["Curl/"],
    "Toolkit/NATS": ["Library/"],
]

/// Modules of the toolchain, which every module may import. Full Foundation is left out because it adds 44 MB.
private let toolchain: Set<String> = ["Dispatch", "Glibc", "Synchronization", "FoundationEssentials", "Swift"]

private let top = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

private func text(_ path: String) throws -> String {
    try String(contentsOf: top.appending(path: path), encoding: .utf8)
}

private struct SourceFile {
    let folder: String
    let path: String
    let lines: [Substring]

    var imports: [String] {
        lines.compactMap { line in
            let words = line.split(separator: " ").filter {
                !["public", "internal", "private", "package", "@testable", "@preconcurrency", "@_exported"]
                    .contains($0)
            }
            guard words.count >= 2, words[0] == "import" else { return nil }
            // `import enum Module.Type`
            let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "func", "typealias", "let", "var"]
            let name = kinds.contains(words[1]) && words.count >= 3 ? words[2] : words[1]
            return String(name.split(separator: ".")[0])
        }
    }

    static func all() throws -> [SourceFile] {
        let folder = top.appending(path: "Sources")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        return try paths.map { path in
            let parts = path.split(separator: "/")
            let text = try String(contentsOf: folder.appending(path: path), encoding: .utf8)
            return SourceFile(
                folder: parts.prefix(2).joined(separator: "/"), path: parts.dropFirst(2).joined(separator: "/"),
                lines: text.split(separator: "\n"))
        }
    }
}

@Suite("The modules") struct ModuleTests {
    @Test("are those of Package.swift")
    func folders() throws {
        let known = Set(try Module.all().map(\.folder)).union(["App/parley"])
        #expect(Set(try SourceFile.all().map(\.folder)) == known)
    }

    @Test("import only what Package.swift lists, C libraries included")
    func imports() throws {
        let allowed = Dictionary(uniqueKeysWithValues: try Module.all().map { ($0.folder, $0.imports) })
        for file in try SourceFile.all() where file.folder != "App/parley" {
            let allowed = (allowed[file.folder] ?? []).union(toolchain)
            for module in file.imports {
                #expect(allowed.contains(module), "\(file.folder)/\(file.path) imports \(module)")
            }
        }
    }

    @Test("use every import that Package.swift lists, so that no build waits for an unneeded module")
    func uses() throws {
        let files = Dictionary(grouping: try SourceFile.all(), by: \.folder)
        for module in try Module.all() {
            let imported = Set((files[module.folder] ?? []).flatMap(\.imports))
            #expect(module.imports.subtracting(imported).isEmpty, "\(module.folder)")
        }
    }

    @Test("are described in ARCHITECTURE.md, with what they import")
    func documentation() throws {
        let row = /\| `(\w+)` \| [^|]+ \| ([^|]*) \|/
        let rows = try text("ARCHITECTURE.md").matches(of: row).map { match in
            (name: String(match.1), imports: Set(match.2.matches(of: /\w+/).map { String($0.output) }))
        }
        let documented = Dictionary(rows.map { ($0.name, $0.imports) }) { first, _ in first }
        for module in try Module.all() {
            let imports = try #require(documented[module.name], "\(module.name) has no row")
            // Imports that every module may have are listed once, above the table.
            let told = module.imports.subtracting(["JSON", "Locking", "Logging", "Text"])
            #expect(imports == told, "\(module.name) imports \(told.sorted())")
        }
    }

    @Test("import C libraries only in their listed folders")
    func libraries() throws {
        for file in try SourceFile.all() {
            guard let folders = libraryFolders[file.folder] else { continue }
            for module in file.imports where module.hasPrefix("C") && module.dropFirst().first?.isUppercase == true {
                #expect(folders.contains { file.path.hasPrefix($0) }, "\(file.folder)/\(file.path) imports \(module)")
            }
        }
    }

    @Test("start no detached task and crash on no error")
    func forbiddenWords() throws {
        for file in try SourceFile.all() {
            for line in file.lines where !line.drop(while: { $0 == " " }).hasPrefix("//") {
                for word in ["Task.detached", "try!", "fatalError(", "as! "] {
                    #expect(!line.contains(word), "\(file.folder)/\(file.path): \(line)")
                }
            }
        }
    }
}
