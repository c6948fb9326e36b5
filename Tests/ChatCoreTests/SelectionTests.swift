import ChatCore
import ChatModel
import Locking
import TestSupport
import Testing

@Suite("A selection") struct SelectionTests {
    private func chat(
        scopes: Scopes = [.read], channels: [NamePattern] = [.all], types: [NamePattern] = [.all],
        limits: Limits = Limits()
    ) -> ChatAccess {
        ChatService(
            engine: ScriptedEngine(scripted: ScriptedLog()), limits: limits, executor: ThreadExecutor(name: "test-hub")!
        ).demoChat(scopes: scopes, channels: channels, types: types)
    }

    /// The error with which the chat refuses a selection; nil when it accepts it.
    private func refusal(_ chat: ChatAccess, _ channels: [String], types: [String] = []) -> ChatError.Code? {
        do throws(ChatError) {
            _ = try chat.selection(channels: channels, types: types)
            return nil
        } catch {
            return error.code
        }
    }

    @Test(
        "is the same for every spelling of the request",
        arguments: [
            (["a", "b"], ["b", "a", "a"]), (["a.*"], ["a.*", "a.b", "a.b.*", "a.b.c.*"]), (["*"], ["x", "*", "y.*"]),
            (["a.*", "a"], ["a", "a.*"]),
        ])
    func normalForm(_ left: [String], _ right: [String]) throws {
        let chat = chat()
        let channels = [try chat.selection(channels: left), try chat.selection(channels: right)]
        #expect(channels[0] == channels[1])
        #expect(channels[0].hashValue == channels[1].hashValue)
        let types = [
            try chat.selection(channels: ["c"], types: left), try chat.selection(channels: ["c"], types: right),
        ]
        #expect(types[0] == types[1])
    }

    @Test("without parameters means everything the credential reaches, and never the system channel")
    func everything() throws {
        try #expect(chat().selection(channels: []).channelPatterns == [.all])
        let narrow = chat(channels: [.below("a."), .exact("b")], types: [.exact("t")])
        try #expect(narrow.selection(channels: []).channelPatterns == [.below("a."), .exact("b")])
        try #expect(narrow.selection(channels: []).types == [.exact("t")])
        let named = chat(channels: [.exact(ChannelID.systemName), .exact("b")])
        try #expect(named.selection(channels: []).channelPatterns == [.exact("b")])
    }

    @Test("has the system channel only for an admin who names it")
    func system() throws {
        let name = ChannelID.systemName
        #expect(refusal(chat(channels: [.all, .exact(name)]), [name]) == .forbidden)
        #expect(refusal(chat(channels: [.exact(name)]), []) == .forbidden)
        let admin = chat(scopes: [.admin])
        try #expect(admin.selection(channels: [name]).channelPatterns == [.exact(name)])
        try #expect(admin.selection(channels: [name, "*"]).channelPatterns == [.exact(name), .all])
        try #expect(admin.selection(channels: []).channelPatterns == [.all])
    }

    @Test("is limited to the credential's channels and types")
    func rights() {
        let narrow = chat(channels: [.below("a.")], types: [.below("order.")])
        #expect(refusal(narrow, ["a.b", "a.c.*"]) == nil)
        for channels in [["b"], ["*"], ["a"], ["ab.*"], ["a.b", "b"]] {
            #expect(refusal(narrow, channels) == .forbidden, "\(channels)")
        }
        #expect(refusal(narrow, ["a.b"], types: ["*"]) == .forbidden)
        #expect(refusal(chat(scopes: [.emit]), ["a"]) == .forbidden)
    }

    @Test("of a credential without any right is refused, not everything")
    func nothing() {
        #expect(refusal(chat(channels: []), []) == .forbidden)
        #expect(refusal(chat(types: []), ["a"]) == .forbidden)
    }

    @Test(
        "refuses values that are neither a name nor a pattern",
        arguments: ["", "a*", "*.a", "a.*.b", "a,b", "a\nb", "a\n.*", "$other", String(repeating: "x", count: 256)])
    func names(_ channel: String) {
        #expect(refusal(chat(), [channel]) == .malformed)
    }

    @Test("has a bounded number of parts")
    func count() throws {
        var limits = Limits()
        limits.streamChannels = 3
        let chat = chat(limits: limits)
        #expect(refusal(chat, ["a", "b", "c"]) == nil)
        #expect(refusal(chat, ["a", "b", "c", "d"]) == .malformed)
        #expect(refusal(chat, ["a"], types: ["a", "b", "c", "d"]) == .malformed)
    }

    @Test("keeps the parts that a change leaves out")
    func change() throws {
        let chat = chat()
        let old = try chat.selection(channels: ["a"], types: ["t"], filter: Filter("type == 't'"))
        let channels = try chat.selection(changing: old, channels: ["b", "c.*"], types: nil)
        #expect(channels.channelPatterns == [.exact("b"), .below("c.")])
        #expect(channels.types == [.exact("t")])
        #expect(channels.filter == old.filter)
        let types = try chat.selection(changing: channels, channels: nil, types: ["*"])
        #expect(types.channels == channels.channels)
        #expect(types.types == [.all])
    }

    @Test("is checked against rights that have changed since")
    func permission() throws {
        let selection = try chat().selection(channels: ["a.b", "c.*"], types: ["t"])
        func caller(_ channels: [NamePattern], _ types: [NamePattern] = [.all], _ scopes: Scopes = [.read]) -> Caller {
            Caller(app: demo, credential: "key_test", scopes: scopes, channels: channels, types: types)
        }
        #expect(selection.isPermitted(to: caller([.all])))
        #expect(selection.isPermitted(to: caller([.below("a."), .below("c.")], [.exact("t")])))
        #expect(!selection.isPermitted(to: caller([.below("a."), .below("c.d.")])))
        #expect(!selection.isPermitted(to: caller([.all], [.exact("u")])))
        #expect(!selection.isPermitted(to: caller([.all], [.all], [.emit])))
        #expect(!selection.isPermitted(to: caller([])))
        let system = try chat(scopes: [.admin]).selection(channels: [ChannelID.systemName])
        #expect(!system.isPermitted(to: caller([.all, .exact(ChannelID.systemName)])))
        #expect(system.isPermitted(to: caller([.all], [.all], [.admin])))
    }
}
