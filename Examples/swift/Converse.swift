// Two people of a chat, in one program: ben listens to a channel and answers ana.
//
//     swift run converse                          against `parley serve --dev`
//     PARLEY_URL=… PARLEY_KEY=… swift run converse
//
// A service of your own is a package that depends on the product `ChatKit`, and looks the same.

import ChatKit
import ChatRemote
import Foundation

@main
struct Converse {
    static func main() async throws {
        let environment = ProcessInfo.processInfo.environment
        let url = environment["PARLEY_URL"] ?? "http://127.0.0.1:8080"
        let key = environment["PARLEY_KEY"] ?? "dev"
        let ana = try await Chat(url: url, key: key, user: "ana")
        let ben = try await Chat(url: url, key: key, user: "ben")

        // A sequence hears what happens after it was opened: both open theirs before anybody speaks.
        var heard = ben.channel("kitchen").stream.messageReceived().makeAsyncIterator()
        try await heard.open()
        var answers = ana.channel("kitchen").stream.messageReceived().makeAsyncIterator()
        try await answers.open()

        try await ana.channel("kitchen").sendText("is there dinner?")
        while let message = await heard.next() {
            guard message.userId != "ben" else { continue }
            print("\(message.userId): \(message.text)")
            try await ben.channel("kitchen").sendText("yes, at eight")
            break
        }
        while let answer = await answers.next() {
            guard answer.userId == "ben" else { continue }
            print("\(answer.userId): \(answer.text)")
            break
        }
        await ana.close()
        await ben.close()
    }
}
