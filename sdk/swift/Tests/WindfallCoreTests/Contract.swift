import Foundation

@testable import WindfallCore

/// The files of sdk/contract.
enum Contract {
    private static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("contract")

    static func read(_ name: String) throws -> JsonValue {
        try JsonValue(parsing: Data(contentsOf: folder.appendingPathComponent(name)))
    }

    /// What this SDK can do of what a case may require.
    private static let abilities: Set<String> = ["app_store", "attestation", "storage_faults"]

    /// The cases that an SDK with these abilities runs.
    static func cases(_ file: JsonValue) -> [JsonValue] {
        (file["cases"]?.list ?? []).filter { one in
            (one["requires"]?.list ?? []).allSatisfy { abilities.contains($0.text ?? "") }
        }
    }
}

/// Compares with an expectation in which `{name}` stands for a value, the same each time.
struct Bindings {
    private var bound: [String: String] = [:]

    mutating func fits(_ expected: JsonValue, _ actual: JsonValue?, exactly: Bool) -> Bool {
        guard let actual else { return false }
        switch (expected, actual) {
        case (.text(let name), .text(let text)) where name.hasPrefix("{") && name.hasSuffix("}"):
            return fitsName(name, text)
        case (.list(let all), .list(let some)):
            guard all.count == some.count else { return false }
            for (one, other) in zip(all, some) where !fits(one, other, exactly: exactly) { return false }
            return true
        case (.object(let all), .object(let some)):
            if exactly && Set(all.keys) != Set(some.keys) { return false }
            for (name, one) in all where !fits(one, some[name], exactly: exactly) { return false }
            return true
        default:
            return expected == actual
        }
    }

    private mutating func fitsName(_ name: String, _ text: String) -> Bool {
        if let known = bound[name] { return known == text }
        let id = #"^\$anon_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$"#
        if name.contains("anonymous id"), text.range(of: id, options: .regularExpression) == nil { return false }
        if bound.values.contains(text) { return false }
        bound[name] = text
        return true
    }
}
