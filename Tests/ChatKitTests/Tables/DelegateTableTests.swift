import ChatKit
import ChatRemote
import Testing

@Suite("The table of delegates", .timeLimit(.minutes(5))) struct DelegateTableTests {
    @Test("has the rows of open channels, groups, users and connections, each once")
    func complete() {
        let wanted = (1...21).map { "o\($0)" } + (1...29).map { "g\($0)" } + ["u1"]
        #expect(Set(DelegateRow.all.map(\.id)) == Set(wanted))
        #expect(DelegateRow.all.count == wanted.count)
        #expect(wanted.count + ConnectionRow.allCases.count == 55)
    }

    @Test("calls the delegates it names, and no others", arguments: DelegateRow.all, MatchStrategy.allCases)
    func row(row: DelegateRow, way: MatchStrategy) async throws {
        try await Stage.play(way) { stage in
            try await row.before(stage)
            var witnesses: [Ear: Witness] = [:]
            for ear in Ear.allCases where ear != .zoe {
                let (chat, witness) = (try stage.chat(ear), Witness())
                try await chat.addChannelDelegate(witness, identifier: "row").ready()
                try await chat.addUserEventDelegate(witness, identifier: "row").ready()
                witnesses[ear] = witness
            }
            try await row.cause(stage)
            for ear in row.calls {
                #expect(await witnesses[ear]?.meets(row.callback) == true, "\(ear) is to be called")
            }
            try await stage.fence()
            for (ear, witness) in witnesses where !row.calls.contains(ear) {
                #expect(await !witness.meetsBeforeFence(row.callback), "\(ear) is not to be called")
            }
        }
    }

    /// The states of a connection that breaks. A chat in the program's own process has no connection.
    enum ConnectionRow: String, CaseIterable, CustomTestStringConvertible {
        case c1 = "didStartReconnection"
        case c2 = "didSucceedReconnection"
        case c3 = "didFailReconnection"
        case c4 = "didCancelReconnection"

        var testDescription: String { rawValue }
    }

    @Test("calls the delegates of a connection's own device", arguments: ConnectionRow.allCases)
    func connection(row: ConnectionRow) async throws {
        try await withGatewayRestarts { gateway in
            let chat = try await Chat(url: try await gateway.start(), key: "dev", user: "ana")
            let witness = Witness()
            try await chat.addConnectionDelegate(witness, identifier: "row").ready()
            try await chat.addChannelDelegate(witness, identifier: "row").ready()
            try await gateway.stop()
            #expect(await witness.heard.next() == [ConnectionRow.c1.rawValue])
            switch row {
            case .c1: break
            case .c2: _ = try await gateway.start()
            case .c3: _ = try await gateway.start(isAnother: true)
            case .c4: await chat.close()
            }
            if row != .c1 { #expect(await witness.heard.next() == [row.rawValue]) }
            await chat.close()
        }
    }
}
