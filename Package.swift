// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = ["ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility"]
    .map { .enableUpcomingFeature($0) }

/// A room: a target at `Sources/<floor>/<name>` that may import only what it `uses` (see ARCHITECTURE.md).
func room(_ floor: String, _ name: String, uses: [Target.Dependency] = [], besides: [String] = []) -> Target {
    .target(
        name: name, dependencies: uses, path: "Sources/\(floor)/\(name)", exclude: besides, swiftSettings: strict)
}

/// A door to a C library: a module map and a shim header at `Sources/System/<name>`, no logic.
func door(_ name: String, pkgConfig: String? = nil, apt: String? = nil) -> Target {
    .systemLibrary(
        name: name, path: "Sources/System/\(name)", pkgConfig: pkgConfig,
        providers: apt.map { [.apt([$0])] })
}

func tests(_ name: String, uses: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: uses, path: "Tests/\(name)", swiftSettings: strict)
}

let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")

let package = Package(
    name: "parley",
    products: [
        .library(name: "ChatKit", targets: ["ChatKit", "ChatRemote"]),
        .library(name: "ChatKitInProcess", targets: ["ChatKitInProcess", "SQLiteEngine"]),
        .executable(name: "parley", targets: ["parley"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
    ],
    targets: [
        door("CMicrohttpd", pkgConfig: "libmicrohttpd", apt: "libmicrohttpd-dev"),
        door("CJansson", pkgConfig: "jansson", apt: "libjansson-dev"),
        door("CSQLite", pkgConfig: "sqlite3", apt: "libsqlite3-dev"),
        door("CCurl", pkgConfig: "libcurl", apt: "libcurl4-openssl-dev"),
        door("CZlib", pkgConfig: "zlib", apt: "zlib1g-dev"),
        door("CLinux"),

        room("Toolkit", "Locking", uses: ["CLinux"]),
        room("Toolkit", "JSON", uses: ["CJansson"]),
        room("Toolkit", "JSONSchema", uses: ["CJansson", "JSON"]),
        room("Toolkit", "Signing", uses: [crypto, cryptoExtras]),
        room("Toolkit", "Templates", uses: ["JSON"]),
        room("Toolkit", "SQLite", uses: ["CSQLite"]),
        room("Toolkit", "HTTPServer", uses: ["CLinux", "CMicrohttpd", "CZlib", "Locking", logging]),
        room("Toolkit", "HTTPClient", uses: ["CCurl", "CLinux", "Locking"]),

        room("Chat", "ChatModel", uses: ["JSON"]),
        room("Chat", "ChatCore", uses: ["ChatModel", "JSON", "JSONSchema", "Locking", "Signing"]),

        room("Chat", "ChatKit", uses: ["ChatModel", "JSON", "Locking"]),
        room("Chat", "ChatRemote", uses: ["ChatKit", "ChatModel", "HTTPClient", "JSON", "Locking"]),

        room("Chat", "ChatKitInProcess", uses: ["ChatCore", "ChatKit", "ChatModel", "JSON", "Locking"]),

        room("Storage", "SQLiteEngine", uses: ["ChatModel", "JSON", "Locking", "SQLite", logging]),

        room(
            "Interfaces", "InboundHooks",
            uses: ["ChatCore", "ChatModel", "JSON", "Locking", "Signing", "Templates", logging]),
        room(
            "Interfaces", "Webhooks",
            uses: ["ChatCore", "ChatModel", "HTTPClient", "JSON", "Locking", "Signing", "Templates", logging]),
        room("Interfaces", "Following", uses: ["ChatCore", "ChatModel", "HTTPServer", "Locking"]),
        room(
            "Interfaces", "NativeAPI",
            uses: [
                "ChatCore", "ChatModel", "Following", "HTTPServer", "InboundHooks", "JSON", "Locking", "Signing",
                "Webhooks", logging,
            ]),
        room(
            "Interfaces", "PubNubAPI",
            uses: ["ChatCore", "ChatModel", "Following", "HTTPServer", "JSON", "JSONSchema", "Locking", "Signing"]),
        // `Site` goes into the program by way of scripts/embed-site.
        room("Interfaces", "Dashboard", uses: ["HTTPServer"], besides: ["Site"]),

        room(
            "App", "Gateway",
            uses: [
                "ChatCore", "ChatModel", "Dashboard", "Following", "HTTPClient", "HTTPServer", "InboundHooks", "JSON",
                "Locking",
                "NativeAPI", "PubNubAPI", "SQLiteEngine", "Signing", "Webhooks", logging, "Yams",
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ]),
        room("App", "Bench", uses: ["CLinux", "JSON", "Locking"]),
        room(
            "App", "ClientCommands",
            uses: [
                "Bench", "ChatModel", "HTTPClient", "JSON", "JSONSchema", "Locking", "Signing", argumentParser,
            ]),
        room(
            "App", "ParleyCommands",
            uses: [
                "ChatCore", "ChatModel", "ClientCommands", "Gateway", "HTTPClient", "JSON", "PubNubAPI", "Signing",
                argumentParser,
            ]),
        .executableTarget(
            name: "parley", dependencies: ["ParleyCommands"], path: "Sources/App/parley", swiftSettings: strict,
            // In the place of the C library's allocator, which keeps too little at hand for hundreds of requests under
            // way: a quarter of an emit's CPU (docs/performance.md).
            linkerSettings: [.linkedLibrary("jemalloc")]),

        // A program of Examples/, built with everything else so that it stays true.
        .executableTarget(name: "converse", dependencies: ["ChatKit", "ChatRemote"], path: "Examples/swift"),

        tests("BenchTests", uses: ["Bench", "JSON", "Locking"]),
        tests(
            "ChatCoreTests",
            uses: [
                "ChatCore", "ChatModel", "EngineConformance", "JSON", "JSONSchema", "Locking", "SQLiteEngine",
                "Signing",
                "TestHouse", "TestReceiver", logging,
            ]),
        tests(
            "ChatKitTests",
            uses: [
                "ChatCore", "ChatKit", "ChatKitInProcess", "ChatModel", "ChatRemote", "Gateway", "HTTPClient", "JSON",
                "JSONSchema",
                "Locking",
                "SQLiteEngine", "TestReceiver",
            ]),
        tests(
            "GatewayTests",
            uses: [
                "ChatCore", "ChatModel", "Gateway", "HTTPClient", "JSON", "Locking", "SQLiteEngine", "Signing",
                "TestHouse", "TestReceiver", logging,
            ]),
        tests("DashboardTests", uses: ["Dashboard", "HTTPServer"]),
        tests("HouseRulesTests", uses: []),
        tests("HTTPClientTests", uses: ["HTTPClient", "Locking"]),
        tests("HTTPServerTests", uses: ["HTTPServer", "Locking", logging]),
        tests("JSONTests", uses: ["JSON"]),
        tests("JSONSchemaTests", uses: ["JSON", "JSONSchema"]),
        .target(
            name: "EventStreamReader", dependencies: ["Locking"], path: "Tests/Support/EventStreamReader",
            swiftSettings: strict),
        tests(
            "NativeAPITests",
            uses: [
                "ChatCore", "ChatModel", "EventStreamReader", "Following", "HTTPClient", "HTTPServer", "InboundHooks",
                "JSON",
                "Locking",
                "NativeAPI", "SQLiteEngine", "Signing", "Webhooks", logging, "Yams",
            ]),
        tests("ParleyTests", uses: ["ChatModel", "ClientCommands", "JSON", "Locking", "ParleyCommands", "Signing"]),
        tests(
            "PubNubAPITests",
            uses: [
                "ChatCore", "ChatModel", "EventStreamReader", "Following", "HTTPServer", "JSON", "Locking", "PubNubAPI",
                "Signing",
                "SQLiteEngine", logging,
            ]),
        tests("SQLiteTests", uses: ["SQLite"]),
        tests("SigningTests", uses: ["Signing"]),
        tests("TemplatesTests", uses: ["JSON", "Templates"]),
        .target(
            name: "EngineConformance", dependencies: ["ChatModel", "JSON", "Locking"],
            path: "Tests/Support/EngineConformance", swiftSettings: strict),
        .target(
            name: "TestReceiver", dependencies: ["Locking"], path: "Tests/Support/Receiver", swiftSettings: strict),
        .target(
            name: "TestHouse", dependencies: ["ChatCore", "ChatModel", "SQLiteEngine", "TestReceiver", logging],
            path: "Tests/Support/House", swiftSettings: strict),
        tests(
            "InboundHooksTests",
            uses: [
                "ChatCore", "ChatModel", "InboundHooks", "JSON", "Locking", "Signing", "SQLiteEngine", "TestHouse",
            ]),
        tests(
            "WebhooksTests",
            uses: [
                "ChatCore", "ChatModel", "HTTPClient", "JSON", "Locking", "Signing", "SQLiteEngine", "TestHouse",
                "TestReceiver", "Webhooks", logging,
            ]),
        tests(
            "SQLiteEngineTests",
            uses: ["ChatModel", "EngineConformance", "JSON", "Locking", "SQLite", "SQLiteEngine", logging]),
    ]
)
