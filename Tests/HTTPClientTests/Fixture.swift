import HTTPClient

let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

/// Options that let a client reach the test servers.
func testOptions(_ change: (inout ClientOptions) -> Void = { _ in }) -> ClientOptions {
    var options = ClientOptions(addressGuard: AddressGuard(allowing: [AddressBlock("127.0.0.0/8")!]))
    change(&options)
    return options
}

/// Runs a test with a client and shuts the client down afterwards.
func withClient<Result>(
    _ options: ClientOptions = testOptions(), _ body: (Client) async throws -> Result
) async throws -> Result {
    let client = try Client(options: options)
    do {
        let result = try await body(client)
        await client.shutdown()
        return result
    } catch {
        await client.shutdown()
        throw error
    }
}
