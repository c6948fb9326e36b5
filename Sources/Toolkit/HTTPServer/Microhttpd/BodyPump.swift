final class BodyPump: Sendable {
    func next() async throws -> [UInt8]? { nil }
}
