import Foundation
import HTTPServer
import HTTPSupport
import Testing

@testable import Dashboard

@Suite("The site") struct SiteTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Sources/Interfaces/Dashboard/Site")

    private static func text(_ name: String) throws -> String {
        try String(contentsOf: folder.appending(path: name), encoding: .utf8)
    }

    private func get(
        _ path: String, isDevelopment: Bool = false, headers: [(name: String, value: String)] = []
    ) async -> (status: Int, headers: [String: String], text: String) {
        var router = Router()
        Dashboard.addRoutes(to: &router, isDevelopment: isDevelopment)
        let response = await router.respond(to: Request(.get, path, headers: Headers(headers)))
        let text =
            switch response.body {
            case .fixed(let bytes): String(decoding: bytes.buffer, as: UTF8.self)
            case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
            default: ""
            }
        return (response.status, Dictionary(response.headers.map { ($0.name, $0.value) }) { first, _ in first }, text)
    }

    @Test("is in the program as in its folder: a new file needs two lines in Sources/System/CAssets/assets.c")
    func embedded() async throws {
        let names = try FileManager.default.subpathsOfDirectory(atPath: Self.folder.path).filter { $0.contains(".") }
        #expect(Set(names) == Set(SiteFile.all.map(\.name)))
        for name in names {
            let file = try #require(SiteFile.all.first { $0.name == name }, "\(name)")
            let answer = await get(file.path)
            let text = try Self.text(name)
            #expect(answer.status == 200 && answer.text == text, "\(name)")
        }
    }

    @Test("is fetched once: a cached file is not sent again until it changes")
    func tags() async throws {
        let first = await get("/")
        let tag = try #require(first.headers["ETag"])
        #expect(await get("/", headers: [("If-None-Match", tag)]).status == 304)
        #expect(await get("/", headers: [("If-None-Match", "\"other\"")]).status == 200)
        #expect(Set(SiteFile.all.map(\.tag)).count == SiteFile.all.count)
    }

    @Test("permits no content of other origins")
    func policy() async throws {
        for file in SiteFile.all {
            let answer = await get(file.path)
            let policy = try #require(answer.headers["Content-Security-Policy"])
            #expect(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"))
            #expect(!policy.contains("unsafe"))
            #expect(answer.headers["Content-Type"]?.isEmpty == false)
        }
    }

    @Test("loads only existing files, and writes no markup by hand")
    func references() throws {
        let paths = Set(SiteFile.all.map(\.path) + Guide.all.map(\.path))
        for file in SiteFile.all {
            let text = try Self.text(file.name)
            for match in text.matches(of: /(?:src|href)="(\/[^"#]+)"/) where !match.1.hasPrefix("/openapi") {
                #expect(paths.contains(String(match.1)), "\(file.name): \(match.1)")
            }
            for match in text.matches(of: /(?:from|import\() ?"(\.[^"]+)"/) {
                let base = URL(string: "http://gateway" + file.path)
                let path = URL(string: String(match.1), relativeTo: base)?.path() ?? ""
                #expect(paths.contains(path), "\(file.name): \(match.1)")
            }
            for word in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "https://cdn"] {
                #expect(!text.contains(word), "\(file.name): \(word)")
            }
        }
    }

    @Test("marks its page in development only")
    func development() async {
        #expect(await get("/", isDevelopment: true).text.contains("data-mode=\"dev\""))
        #expect(await !get("/").text.contains("data-mode=\"dev\""))
        #expect(await get("/", isDevelopment: true).headers["ETag"] != get("/").headers["ETag"])
    }
}
