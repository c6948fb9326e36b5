import Foundation
import HTTPServer
import HTTPSupport
import Testing

@testable import Dashboard

@Suite("The guides") struct GuideTests {
    private static let top = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private func get(
        _ path: String, headers: [(name: String, value: String)] = []
    ) async -> (status: Int, headers: [String: String], text: String) {
        var router = Router()
        Dashboard.addRoutes(to: &router)
        let response = await router.respond(to: Request(.get, path, headers: Headers(headers)))
        guard case .bytes(let bytes) = response.body else { return (response.status, [:], "") }
        return (
            response.status, Dictionary(response.headers.map { ($0.name, $0.value) }) { first, _ in first },
            String(decoding: bytes, as: UTF8.self)
        )
    }

    @Test("are all in the program, each as a page: a new guide needs two lines in Sources/System/CAssets/assets.c")
    func embedded() async throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.top.appending(path: "docs").path)
            .filter { $0.hasSuffix(".md") }
        #expect(Set(files) == Set(Guide.all.map { $0.name + ".md" }))
        for guide in Guide.all {
            let answer = await get(guide.path)
            #expect(answer.status == 200, "\(guide.path)")
            #expect(answer.headers["Content-Type"] == "text/html; charset=utf-8")
            #expect(answer.headers["Content-Security-Policy"]?.contains("default-src 'none'") == true)
            #expect(answer.text.contains("<title>\(guide.title) · Parley</title>") && answer.text.contains("<h1 id="))
            let tag = try #require(answer.headers["ETag"])
            #expect(await get(guide.path, headers: [("If-None-Match", tag)]).status == 304)
        }
    }

    /// The guide and the heading of an address.
    private func leads(_ address: Substring, from guide: Guide? = nil) -> Bool {
        let parts = address.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let target = parts[0].isEmpty ? guide : Guide.all.first { $0.path == parts[0] }
        guard let target else { return ["/", "/docs", "/openapi.yaml"].contains(parts[0]) }
        return parts.count == 1 || parts[1] == "main" || target.converted().anchors.contains(String(parts[1]))
    }

    @Test("link to each other, to the end")
    func links() async throws {
        var count = 0
        for guide in Guide.all {
            let text = await get(guide.path).text
            for match in text.matches(of: /href="((?:\/|#)[^"]*)"/) where !match.1.hasPrefix("/dashboard/") {
                #expect(leads(match.1, from: guide), "\(guide.path): \(match.1)")
                count += 1
            }
        }
        #expect(count > 500)
        #expect(await get("/docs/filters").text.contains(#"<a href="/docs/performance#matching">"#))
    }

    @Test("are where the description of the API and the pages of problems say")
    func referenced() throws {
        let files =
            ["openapi.yaml"] + ["", "+Members"].map { "Sources/Interfaces/NativeAPI/ProblemCatalogue\($0).swift" }
        var count = 0
        for file in files {
            let text = try String(contentsOf: Self.top.appending(path: file), encoding: .utf8)
            #expect(!text.contains("docs/webhooks.md") && !text.contains("docs/filters.md"), "\(file)")
            for match in text.matches(of: /\/docs\/[a-z-]+(?:#[a-z0-9-]+)?/) {
                #expect(leads(match.0), "\(file): \(match.0)")
                count += 1
            }
        }
        #expect(count > 5)
    }

    @Test(
        "are written in Markdown that becomes HTML",
        arguments: [
            (
                "# A `b` c\n## A b\n## A b",
                "<h1 id=\"a-b-c\">A <code>b</code> c</h1>\n<h2 id=\"a-b\">A b</h2>\n<h2 id=\"a-b-1\">A b</h2>\n"
            ),
            ("one\ntwo\n\n*three* **four**", "<p>one\ntwo</p>\n<p><em>three</em> <strong>four</strong></p>\n"),
            ("- a\n  b\n- c\n\ntext", "<ul>\n<li>a\nb</li>\n<li>c</li>\n</ul>\n<p>text</p>\n"),
            (
                "- a\n\n  ```sh\n  b\n  ```\n\n  d\n- c",
                "<ul>\n<li>a<pre class=\"json\" tabindex=\"0\">b\n</pre>\n<p>d</p>\n</li>\n<li>c</li>\n</ul>\n"
            ),
            ("1. a\n2. b", "<ol>\n<li>a</li>\n<li>b</li>\n</ol>\n"),
            ("```sh\na < b | *c*\n```", "<pre class=\"json\" tabindex=\"0\">a &lt; b | *c*\n</pre>\n"),
            (
                "| a | b |\n| --- | ---: |\n| `x\\|y` | 1 |",
                "<div class=\"scroll\"><table>\n<thead><tr><th>a</th><th class=\"number\">b</th></tr></thead>\n<tbody>\n"
                    + "<tr><td><code>x|y</code></td><td class=\"number\">1</td></tr>\n</tbody></table></div>\n"
            ),
            (
                "[a `]`](filters.md#x) [b](../Package.swift)",
                "<p><a href=\"/docs/filters#x\">a <code>]</code></a> b</p>\n"
            ),
            (
                "<https://a.example/?b&c>",
                "<p><a href=\"https://a.example/?b&amp;c\">https://a.example/?b&amp;c</a></p>\n"
            ),
            ("`*` 2*3*4 \\*x\\* <script> \"&\"", "<p><code>*</code> 2*3*4 *x* &lt;script&gt; &quot;&amp;&quot;</p>\n"),
        ])
    func rendering(_ markdown: String, _ html: String) {
        let page = MarkdownPage(markdown.utf8, resolve: Guide.address)
        #expect(String(decoding: page.html, as: UTF8.self) == html)
    }
}
