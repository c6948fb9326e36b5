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

        // Ben answers whatever others say. The sequence begins before ana speaks, and ends with the loop.
        let heard = ben.channel("kitchen").stream.messageReceived()
        async let answering: Void = {
            for await message in heard where message.userId != "ben" {
                print("\(message.userId): \(message.text)")
                try await ben.channel("kitchen").sendText("yes, at eight")
                break
            }
        }()

        let answers = ana.channel("kitchen").stream.messageReceived()
        try await ana.channel("kitchen").sendText("is there dinner?")
        for await answer in answers where answer.userId == "ben" {
            print("\(answer.userId): \(answer.text)")
            break
        }
        try await answering
        await ana.close()
        await ben.close()
    }
}
