// swift-tools-version:5.9
import PackageDescription

let strict: [SwiftSetting] = [.enableExperimentalFeature("StrictConcurrency")]

let package = Package(
    name: "Windfall",
    platforms: [.iOS(.v15), .macOS(.v12), .tvOS(.v15), .watchOS(.v8), .visionOS(.v1)],
    products: [
        .library(name: "WindfallCore", targets: ["WindfallCore"])
    ],
    targets: [
        .target(name: "WindfallCore", path: "sdk/swift/Sources/WindfallCore", swiftSettings: strict),
        .executableTarget(
            name: "WindfallProbe", dependencies: ["WindfallCore"], path: "sdk/swift/Tests/WindfallProbe",
            swiftSettings: strict),
        .testTarget(
            name: "WindfallCoreTests", dependencies: ["WindfallCore"], path: "sdk/swift/Tests/WindfallCoreTests",
            swiftSettings: strict),
    ]
)
