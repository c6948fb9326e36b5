import ArgumentParser
import Foundation
import Testing

@testable import ClientCommands
@testable import ParleyCommands

/// Every command line that a text of the repository shows or advises: guides, the API's description, help, advice of
/// `parley doctor`, packaging. `Tests/Clients/test_commands.py` runs the commands that only read.
@Suite("Commands that texts name") struct DocumentedCommandTests {
    /// Words after the program's name where it names something else: a container, a folder, a package, or a server of
    /// PostgreSQL (`pg_ctlcluster 15 parley start`).
    private static let otherUses: Set = ["cat", "layout", "needs", "start", "stop", "tab"]

    @Test("exist, with the options that are shown")
    func exist() throws {
        let found = try Self.texts().flatMap { file, text in ShownCommand.all(in: text, file) }
        #expect(found.count > 150)
        #expect(Set(found.map(\.words[0])).isSuperset(of: ["webhooks", "doctor", "config", "apps", "history"]))
        for line in found where !Self.otherUses.contains(line.words[0]) {
            if let fault = line.fault { Issue.record("\(line.place): parley \(line.text): \(fault)") }
        }
    }

    @Test(
        "are found wherever they stand",
        arguments: [
            ("see `parley webhooks get ID`: it", ["webhooks get ID"], nil),
            ("'parley apps frob' shows", ["apps frob"], "frob"),
            ("parley deliveries list --statuz dead | head", ["deliveries list --statuz dead"], "--statuz"),
            ("`parley jobs list|get|pause` and", ["jobs list", "jobs get", "jobs pause"], nil),
            ("$(parley config url --config a.yaml)/readyz", ["config url --config a.yaml"], nil),
            ("parley listen 'a b' \\\n  --count 1 # or so", ["listen a b --count 1"], nil),
            ("parley history a extra", ["history a extra"], "extra"),
        ] as [(String, [String], String?)])
    func extraction(_ text: String, _ lines: [String], _ fault: String?) throws {
        let found = ShownCommand.all(in: text, "x.md")
        #expect(found.map(\.text) == lines)
        let faults = found.compactMap(\.fault)
        #expect(faults.isEmpty == (fault == nil), "\(faults)")
        if let fault { #expect(faults[0].contains(fault), "\(faults)") }
    }

    private static func texts() throws -> [(file: String, text: String)] {
        let top = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        var files = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "openapi.yaml", "Dockerfile"]
        for folder in ["docs", "packaging", "Sources", "Examples", "scripts"] {
            let below = FileManager.default.enumerator(atPath: top.appending(path: folder).path)
            while let name = below?.nextObject() as? String {
                if !name.contains(".build/") { files.append("\(folder)/\(name)") }
            }
        }
        // Folders and binary files contain no commands.
        return files.compactMap { file in
            (try? String(contentsOf: top.appending(path: file), encoding: .utf8)).map { (file, $0) }
        }
    }
}

/// A command line in a text.
private struct ShownCommand {
    let place: String
    /// The words without the program's name; never empty.
    let words: [String]
    /// True for a command quoted in a sentence, where arguments may be left out.
    let isQuoted: Bool

    var text: String { words.joined(separator: " ") }

    /// A description of the first mistake; nil if the command could run.
    var fault: String? {
        guard CommandTree.isCommand(words) else { return "there is no command 'parley \(text)'" }
        do {
            _ = try ParleyCommand.parseAsRoot(words)
            return nil
        } catch {
            let message = ParleyCommand.message(for: error)
            let isIncomplete = !message.contains("nexpected argument") && !message.contains("nknown option")
            let isHelp = ParleyCommand.exitCode(for: error).isSuccess
            return isHelp || isIncomplete && (isQuoted || words.contains { $0.contains("…") }) ? nil : message
        }
    }

    static func all(in text: String, _ file: String) -> [ShownCommand] {
        var found: [ShownCommand] = []
        // In a Markdown table, a bar is written with a backslash.
        let lines = text.replacing("\\\n", with: " ").replacing("\\|", with: "|").split(
            separator: "\n", omittingEmptySubsequences: false)
        // A heading names a command without its arguments.
        for (number, line) in lines.enumerated() where !(file.hasSuffix(".md") && line.hasPrefix("#")) {
            guard line.contains("parley ") else { continue }
            for match in line.matches(of: #/(^|[^A-Za-z0-9_.\/-])parley (?=[a-z])/#) {
                let quote = match.output.1.last
                let isQuoted = ["`", "'", "\""].contains(quote)
                var rest = line[match.range.upperBound...]
                if isQuoted, let quote { rest = rest.prefix { $0 != quote } }
                // Stands for the output of another command; only numbers matter here.
                rest = Substring(rest.replacing(/\$\([^)]*\)/, with: "1"))
                found += alternatives(shellWords(rest, isQuoted: isQuoted)).map { words in
                    ShownCommand(place: "\(file):\(number + 1)", words: words, isQuoted: isQuoted)
                }
            }
        }
        return found.filter { !$0.words.isEmpty }
    }

    /// Returns `list|get` as two lines.
    private static func alternatives(_ words: [String]) -> [[String]] {
        guard let at = words.firstIndex(where: { $0.wholeMatch(of: /[a-z-]+(\|[a-z-]+)+/) != nil }) else {
            return [words]
        }
        return words[at].split(separator: "|").map { words[..<at] + [String($0)] + words[(at + 1)...] }
    }

    /// Splits a text into shell words, up to the end of the command. Ellipses, which stand for omitted words, are
    /// dropped.
    private static func shellWords(_ text: Substring, isQuoted: Bool) -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        loop: for character in text {
            if let open = quote {
                if character == open { quote = nil } else { word = (word ?? "") + String(character) }
                continue
            }
            switch character {
            case "'", "\"": (quote, word) = (character, word ?? "")
            case ">", "<", ";", ")", "&", "`": break loop
            case "|" where word == nil, "#" where word == nil: break loop
            case " ":
                if let word { words.append(word) }
                word = nil
            default: word = (word ?? "") + String(character)
            }
        }
        if let word { words.append(word) }
        // Drops a file descriptor before a redirection, and a full stop or comma of the sentence.
        if words.last == "2" { words.removeLast() }
        if !isQuoted, let last = words.last, let end = last.last, ",.:".contains(end), last.count > 1 {
            words[words.count - 1] = String(last.dropLast())
        }
        if words.first == "help" { words.removeFirst() }
        return words.filter { $0 != "…" && $0 != "..." }
    }
}
