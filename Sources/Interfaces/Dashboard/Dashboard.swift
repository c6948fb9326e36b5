public import HTTPServer

/// The pages a person sees in a browser. They speak the public native API and nothing else; the server only hands them
/// out.
public enum Dashboard {
    /// Adds `/` and the files its page loads.
    public static func addRoutes(to router: inout Router) {
        router.add(.get, "/") { _ in file("text/html; charset=utf-8", LivePage.html) }
        router.add(.get, "/dashboard/live.css") { _ in file("text/css; charset=utf-8", LivePage.css) }
        router.add(.get, "/dashboard/live.js") { _ in file("text/javascript; charset=utf-8", LivePage.script) }
    }

    private static func file(_ contentType: String, _ text: StaticString) -> Response {
        Response(
            status: 200,
            headers: [
                ("Content-Type", contentType), ("Cache-Control", "no-cache"),
                // The pages load nothing from elsewhere, run no inline script, and are framed by nobody.
                (
                    "Content-Security-Policy",
                    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
                        + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
                ),
                ("Referrer-Policy", "no-referrer"),
            ], body: .fixed(text))
    }
}
