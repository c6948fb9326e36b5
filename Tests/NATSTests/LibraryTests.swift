import Testing

@testable import NATS

@Suite("The NATS client library") struct LibraryTests {
    @Test("that is missing is an error that names its package")
    func missing() async {
        let missing = await failure { try NATSLibrary(named: "libnats.so.0") }
        #expect(missing?.kind == .libraryMissing)
        #expect(
            missing?.message.hasPrefix("NATS needs libnats.so.0; install the Debian package libnats3.4") == true)
    }

    @Test("that lacks a function is an error that names its package")
    func other() async {
        let other = await failure { try NATSLibrary(named: "libc.so.6") }
        #expect(other?.kind == .libraryMissing)
        #expect(
            other?.message
                == "libc.so.6 has no function natsOptions_Create; install the Debian package libnats3.4")
    }
}
