import Foundation
import Testing

/// The stair (ARCHITECTURE.md): what each room may import. SwiftPM refuses undeclared Swift rooms, but not C doors
/// reached through another room, nor a wrong turn written into Package.swift; this table does.
private let acquaintances: [String: Set<String>] = [
    "Toolkit/Locking": ["CLinux"],
    "Toolkit/JSON": ["CJansson"],
    "Toolkit/JSONSchema": ["CJansson", "JSON"],
    "Toolkit/Signing": ["Crypto", "CryptoExtras"],
    "Toolkit/Templates": ["JSON"],
    "Toolkit/SQLite": ["CSQLite"],
    "Toolkit/HTTPServer": ["CLinux", "CMicrohttpd", "CZlib", "Locking", "Logging"],
    "Toolkit/HTTPClient": ["CCurl", "CLinux", "Locking"],
    "Chat/ChatModel": ["JSON"],
    "Chat/ChatCore": ["ChatModel", "JSON", "JSONSchema", "Locking", "Signing"],
    "Chat/ChatKit": ["ChatCore", "ChatModel", "JSON", "Locking"],
    "Chat/ChatRemote": ["ChatKit", "ChatModel", "HTTPClient", "JSON", "Locking"],
    "Storage/SQLiteEngine": ["ChatModel", "JSON", "Locking", "Logging", "SQLite"],
    "Interfaces/InboundHooks": ["ChatCore", "ChatModel", "JSON", "Locking", "Logging", "Signing", "Templates"],
    "Interfaces/Webhooks": [
        "ChatCore", "ChatModel", "HTTPClient", "JSON", "Locking", "Logging", "Signing", "Templates",
    ],
    "Interfaces/Following": ["ChatCore", "ChatModel", "HTTPServer", "Locking"],
    "Interfaces/NativeAPI": [
        "ChatCore", "ChatModel", "Following", "HTTPServer", "InboundHooks", "JSON", "Locking", "Logging", "Signing",
        "Webhooks",
    ],
    "Interfaces/PubNubAPI": [
        "ChatCore", "ChatModel", "Following", "HTTPServer", "JSON", "JSONSchema", "Locking", "Signing",
    ],
    "Interfaces/Dashboard": ["HTTPServer"],
    "App/Bench": ["CLinux", "JSON", "Locking"],
    "App/Gateway": [
        "ChatCore", "ChatModel", "Dashboard", "Following", "HTTPClient", "HTTPServer", "InboundHooks", "JSON",
        "Locking", "Logging",
        "NativeAPI", "PubNubAPI", "SQLiteEngine", "Signing", "UnixSignals", "Webhooks", "Yams",
    ],
    "App/ParleyCommands": [
        "ArgumentParser", "Bench", "ChatCore", "ChatModel", "Gateway", "HTTPClient", "JSON", "JSONSchema", "Locking",
        "Logging", "PubNubAPI", "Signing",
    ],
    "App/parley": ["ParleyCommands"],
]

/// C doors stand in these folders of their room and nowhere else; a room that is not named may use its door anywhere.
private let doorFolders: [String: [String]] = [
    "Toolkit/JSON": ["Jansson/"],
    "Toolkit/JSONSchema": ["Documents/"],
    "Toolkit/HTTPServer": ["Microhttpd/", "Loop/"],
    "Toolkit/HTTPClient": ["Curl/"],
]

/// What comes with the toolchain and may be used by every room. Full Foundation is not among it: it costs 44 MB.
private let toolchain: Set<String> = ["Glibc", "Synchronization", "FoundationEssentials", "Swift"]

private struct SourceFile {
    let room: String
    let path: String
    let lines: [Substring]

    var imports: [String] {
        lines.compactMap { line in
            let words = line.split(separator: " ").filter {
                !["public", "internal", "private", "package"].contains($0)
            }
            let bare = words.first == "@testable" || words.first == "@preconcurrency" ? Array(words.dropFirst()) : words
            // Scripts of the site import in braces.
            return bare.count >= 2 && bare[0] == "import" && bare[1] != "{"
                ? String(bare[1].split(separator: ".")[0]) : nil
        }
    }
}

private let sourcesFolder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Sources")

private func sourceFiles() throws -> [SourceFile] {
    let paths = try FileManager.default.subpathsOfDirectory(atPath: sourcesFolder.path)
    return try paths.filter { $0.hasSuffix(".swift") }.map { path in
        let parts = path.split(separator: "/")
        let text = try String(contentsOf: sourcesFolder.appending(path: path), encoding: .utf8)
        return SourceFile(
            room: parts.prefix(2).joined(separator: "/"), path: parts.dropFirst(2).joined(separator: "/"),
            lines: text.split(separator: "\n"))
    }
}

@Suite("The house") struct HouseRulesTests {
    @Test("has no room that the table does not know")
    func rooms() throws {
        #expect(Set(try sourceFiles().map(\.room)) == Set(acquaintances.keys))
    }

    @Test("imports only downstairs, as the table says")
    func imports() throws {
        for file in try sourceFiles() {
            let allowed = (acquaintances[file.room] ?? []).union(toolchain)
            for module in file.imports {
                #expect(allowed.contains(module), "\(file.room)/\(file.path) imports \(module)")
            }
        }
    }

    @Test("keeps C behind the folder that knows it")
    func doors() throws {
        for file in try sourceFiles() {
            guard let folders = doorFolders[file.room] else { continue }
            for module in file.imports where module.hasPrefix("C") && module.dropFirst().first?.isUppercase == true {
                #expect(folders.contains { file.path.hasPrefix($0) }, "\(file.room)/\(file.path) imports \(module)")
            }
        }
    }

    @Test("starts no detached task and swallows no programmer's error")
    func forbiddenWords() throws {
        for file in try sourceFiles() {
            for line in file.lines where !line.drop(while: { $0 == " " }).hasPrefix("//") {
                for word in ["Task.detached", "try!", "fatalError(", "as! "] {
                    #expect(!line.contains(word), "\(file.room)/\(file.path): \(line)")
                }
            }
        }
    }

    @Test("goes without full Foundation")
    func foundation() throws {
        for file in try sourceFiles() {
            #expect(!file.imports.contains("Foundation"), "\(file.room)/\(file.path)")
        }
    }
}
