import HTTPServer

extension NativeAPI {
    /// `GET /livez`: the process answers. Asks nothing of anybody else: a restart would not mend a full disk.
    func getLiveness(_ request: Request) -> Response {
        .json(Array(#"{"status":"ok"}"#.utf8))
    }
}
