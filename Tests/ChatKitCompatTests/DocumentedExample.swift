import ChatKitCompat

let pubnub = PubNub(
    configuration: PubNubConfiguration(url: "https://chat.example.com", key: "parley_…", userId: "ana"))

let chat = ChatImpl(
    pubNubConfiguration: PubNubConfiguration(url: "https://chat.example.com", key: "parley_…", userId: "ana"))
