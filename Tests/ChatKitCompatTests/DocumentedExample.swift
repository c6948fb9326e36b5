import ChatKitCompat

let pubnub = PubNub(
    configuration: PubNubConfiguration(url: "https://chat.example.com", key: "parley_…", userId: "ana"))
