// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that the product knows nothing of it. The rooms are links into the checkout: they are no
// products, and the fuzzer looks at their internals.
let strict: [SwiftSetting] = ["ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility"]
    .map { .enableUpcomingFeature($0) }

let package = Package(
    name: "fuzz",
    targets: [
        .systemLibrary(name: "CJansson", pkgConfig: "jansson"),
        .target(name: "JSON", dependencies: ["CJansson"], swiftSettings: strict),
        .target(name: "JSONSchema", dependencies: ["CJansson", "JSON"], swiftSettings: strict),
        .executableTarget(name: "Fuzz", dependencies: ["CJansson", "JSON", "JSONSchema"], swiftSettings: strict),
    ]
)
