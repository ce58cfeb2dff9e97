import Foundation
import XCTest

/// The documents say what the sources do.
final class DocumentTests: XCTestCase {
    private let package = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private func text(_ path: String) throws -> String {
        try String(contentsOf: package.appendingPathComponent(path), encoding: .utf8)
    }

    private func swiftFiles(below folder: String) throws -> [String] {
        let root = package.appendingPathComponent(folder)
        let names = try XCTUnwrap(FileManager.default.enumerator(atPath: root.path)?.allObjects as? [String])
        return names.filter { $0.hasSuffix(".swift") }.map { "\(folder)/\($0)" }
    }

    private func matches(_ pattern: String, in text: String) throws -> [String] {
        let expression = try NSRegularExpression(pattern: pattern, options: .anchorsMatchLines)
        return expression.matches(in: text, range: NSRange(text.startIndex..., in: text)).compactMap { match in
            Range(match.range(at: 1), in: text).map { String(text[$0]) }
        }
    }

    func testEachNameOfAStandInHasItsSources() throws {
        let sources = try text("Stubs/SOURCES.md")
        let files = try swiftFiles(below: "Stubs").filter { !$0.contains("/Stub") }
        XCTAssertEqual(files.count, 5)
        for file in files {
            let names = try matches(
                #"(?:public|open)[\w\s()]*? (?:let|var|func|struct|class|enum|typealias) (\w+)"#, in: text(file))
            XCTAssertFalse(names.isEmpty)
            // What the protocols of the standard library ask for.
            let requirements = ["Element", "rawValue", "makeAsyncIterator", "next", "AsyncIterator"]
            for name in names where !requirements.contains(name) {
                XCTAssertTrue(sources.contains(name), "\(file): \(name)")
            }
        }
    }

    func testEachExampleOfTheReadmeIsCompiled() throws {
        let compiled = try text("Tests/WindfallTests/ReadmeExamples.swift").split(separator: "\n")
            .map { $0.trimmingCharacters(in: .whitespaces) }
        let catalogue = ["Windfall", "GettingStarted", "Purchases"].map { "Sources/Windfall/Windfall.docc/\($0).md" }
        for page in ["README.md"] + catalogue {
            let blocks = try matches(#"```swift\n([\s\S]*?)```"#, in: text(page))
            XCTAssertFalse(blocks.isEmpty)
            // The manifest of another package, and an app with SwiftUI, are for Apple's tools.
            let others = [".package(", ".product(", "@main"]
            for block in blocks where !others.contains(where: block.contains) {
                let lines = block.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
                for line in lines where !line.hasPrefix("//") && !line.isEmpty {
                    XCTAssertTrue(compiled.contains(line), "\(page): \(line)")
                }
            }
        }
    }

    func testThePrivacyManifestNamesEachApiThatNeedsAReason() throws {
        let data = try Data(contentsOf: package.appendingPathComponent("Sources/Windfall/PrivacyInfo.xcprivacy"))
        let list = try XCTUnwrap(PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any])
        XCTAssertEqual(list["NSPrivacyTracking"] as? Bool, false)
        let declared = try XCTUnwrap(list["NSPrivacyAccessedAPITypes"] as? [[String: Any]])
            .compactMap { $0["NSPrivacyAccessedAPIType"] as? String }
        let code = try swiftFiles(below: "Sources").map(text).joined()
        let categories = [
            ("UserDefaults", #"\bUserDefaults\b"#),
            ("FileTimestamp", #"\b(creationDate|modificationDate|contentModificationDateKey|f?stat|getattrlist)\b"#),
            ("SystemBootTime", #"\b(systemUptime|mach_absolute_time)\b"#),
            ("DiskSpace", #"\b(volumeAvailableCapacity\w*|systemFreeSize|f?statv?fs)\b"#),
        ]
        for (category, pattern) in categories {
            let isUsed = code.range(of: pattern, options: .regularExpression) != nil
            XCTAssertEqual(declared.contains("NSPrivacyAccessedAPICategory\(category)"), isUsed, category)
        }
    }
}
