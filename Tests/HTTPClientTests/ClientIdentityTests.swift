import HTTPClient
import TestSupport
import Testing

@Suite("A client certificate", .enabled(if: Certificates.canBeUsed)) struct ClientIdentityTests {
    private func answer(
        _ client: Client, _ url: String, _ identity: ClientIdentity?
    ) async -> (text: String, reason: OutboundFailure.Reason?) {
        let result = await client.send(OutboundRequest(url: url, tls: identity))
        return (String(decoding: result.body, as: UTF8.self), result.failure?.reason)
    }

    /// If tenants shared a connection, requests of one would carry the identity of another.
    @Test("is used on a connection that is not shared with clients without it")
    func pool() async throws {
        let certificates = try Certificates()
        let server = try certificates.make("server")
        let (ann, ben) = (try certificates.make("ann"), try certificates.make("ben"))
        let receiver = try TLSReceiver(server, accepting: [ann, ben])
        let asAnn = try ClientIdentity(
            certificate: ann.certificate, privateKey: ann.key, authorities: server.certificate)
        let asBen = try ClientIdentity(
            certificate: ben.certificate, privateKey: ben.key, authorities: server.certificate)
        try await withClient(testOptions { $0.caFile = server.certificatePath }) { client in
            // Requests run one after the other, so that a kept connection could be reused by mistake.
            #expect(await answer(client, receiver.url, asAnn).text == "1 ann")
            #expect(await answer(client, receiver.url, asBen).text == "2 ben")
            #expect(await answer(client, receiver.url, asAnn).text == "1 ann")
            #expect(await answer(client, receiver.url, asBen).text == "2 ben")
            #expect(await answer(client, receiver.url, nil).reason != nil)
            #expect(await answer(client, receiver.url, asAnn).text == "1 ann")
            // A TLS session of another client must not be resumed either.
            #expect(await answer(client, receiver.url + "last", asAnn).text == "1 ann")
            #expect(await answer(client, receiver.url + "last", asBen).text == "2 ben")
            #expect(await answer(client, receiver.url + "last", asBen).text.hasSuffix(" ben"))
            #expect(await answer(client, receiver.url + "last", asAnn).text.hasSuffix(" ann"))
            #expect(await answer(client, receiver.url, nil).reason != nil)
        }
    }

    @Test("is sent only on request, and is optional with custom authorities")
    func authoritiesOnly() async throws {
        let certificates = try Certificates()
        let (server, other) = (try certificates.make("server"), try certificates.make("other"))
        let receiver = try TLSReceiver(server, accepting: [])
        let trusting = try ClientIdentity(authorities: server.certificate)
        let mistrusting = try ClientIdentity(authorities: other.certificate)
        try await withClient { client in
            #expect(await answer(client, receiver.url, trusting).text == "1 -")
            // The open connection must not be used.
            #expect(await answer(client, receiver.url, mistrusting).reason == .tls)
            #expect(await answer(client, receiver.url, nil).reason == .tls)
            #expect(await answer(client, receiver.url, trusting).text == "1 -")
        }
    }

    @Test("authorities replace the system's, those of the options and those of a request")
    func instead() async throws {
        let certificates = try Certificates()
        let (server, other) = (try certificates.make("server"), try certificates.make("other"))
        let receiver = try TLSReceiver(server, accepting: [])
        let trusting = try ClientIdentity(authorities: server.certificate)
        let mistrusting = try ClientIdentity(authorities: other.certificate)
        try await withClient(testOptions { $0.caFile = server.certificatePath }) { client in
            #expect(await answer(client, receiver.url, nil).reason == nil)
            #expect(await answer(client, receiver.url, mistrusting).reason == .tls)
            #expect(await answer(client, receiver.url, nil).reason == nil)
        }
        try await withClient(testOptions { $0.caFile = other.certificatePath }) { client in
            #expect(await answer(client, receiver.url, nil).reason == .tls)
            #expect(await answer(client, receiver.url, trusting).reason == nil)
            #expect(await answer(client, receiver.url, nil).reason == .tls)
        }
    }

    @Test("is not sent in the clear: with http the request fails")
    func plain() async throws {
        let certificates = try Certificates()
        let ann = try certificates.make("ann")
        let server = try ScriptedServer(answering: { _ in ok })
        let identity = try ClientIdentity(certificate: ann.certificate, privateKey: ann.key)
        try await withClient { client in
            #expect(await answer(client, server.url(), identity).reason == .requestInvalid)
        }
        #expect(server.connectionCount == 0)
    }

    @Test(
        "is accepted with any kind of key, in either form",
        arguments: [["ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"], ["rsa:2048"], ["ed25519"]])
    func kinds(_ kind: [String]) throws {
        let certificates = try Certificates()
        let made = try certificates.make("ann", kind)
        try ClientIdentity(certificate: made.certificate, privateKey: made.key).check()
        // Tools print text around a PEM block.
        try ClientIdentity(certificate: "Subject: ann\n" + made.certificate, privateKey: made.key + "\n").check()
        guard kind != ["ed25519"] else { return }
        let old = try certificates.converted(
            made, [kind[0] == "ec" ? "ec" : "rsa"] + (kind[0] == "ec" ? [] : ["-traditional"]))
        #expect(old.hasPrefix(kind[0] == "ec" ? "-----BEGIN EC PRIVATE" : "-----BEGIN RSA PRIVATE"))
        try ClientIdentity(certificate: made.certificate, privateKey: old).check()
    }

    @Test("is refused with the reason when it is unusable")
    func refused() throws {
        let certificates = try Certificates()
        let (ann, ben) = (try certificates.make("ann"), try certificates.make("ben"))
        let rsa = try certificates.make("rsa", ["rsa:2048"])
        let locked = try certificates.converted(ann, ["pkcs8", "-topk8", "-passout", "pass:word"])
        let lockedOld = try certificates.converted(ann, ["ec", "-aes128", "-passout", "pass:word"])
        let broken = ann.certificate.replacing("MII", with: "MIJ")
        let cases: [(String?, String?, String?, ClientIdentityError.Reason)] = [
            (ann.certificate, nil, nil, .incomplete), (nil, ann.key, nil, .incomplete),
            (ann.certificate, ben.key, nil, .privateKey), (ann.certificate, rsa.key, nil, .privateKey),
            (ann.certificate, ann.certificate, nil, .privateKey), (ann.certificate, "", nil, .privateKey),
            (ann.certificate, cut(ann.key), nil, .privateKey),
            (ann.key, ann.key, nil, .certificate), ("", ann.key, nil, .certificate),
            (cut(ann.certificate), ann.key, nil, .certificate), (broken, ann.key, nil, .certificate),
            (ann.certificate + "\0", ann.key, nil, .certificate),
            (ann.certificate, locked, nil, .encrypted), (ann.certificate, lockedOld, nil, .encrypted),
            (nil, nil, "", .authorities), (nil, nil, ann.key, .authorities),
            (nil, nil, cut(ann.certificate), .authorities),
            (ann.certificate, ann.key, broken, .authorities),
            (nil, nil, ann.certificate + String(repeating: "\n", count: 65536), .tooLarge),
        ]
        for (index, (certificate, key, authorities, reason)) in cases.enumerated() {
            let error = #expect(throws: ClientIdentityError.self, "case \(index)") {
                try ClientIdentity(certificate: certificate, privateKey: key, authorities: authorities).check()
            }
            #expect(error?.reason == reason, "case \(index)")
        }
    }

    /// The first half of a PEM text, with its end line.
    private func cut(_ pem: String) -> String {
        let lines = pem.split(separator: "\n")
        return ([lines[0], lines[1].dropLast(20), lines[lines.count - 1]]).joined(separator: "\n")
    }
}
