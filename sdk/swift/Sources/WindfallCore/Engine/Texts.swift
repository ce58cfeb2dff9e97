import Foundation

/// The bytes of a text.
func utf8(_ text: String) -> Data { text.data(using: .utf8) ?? Data() }

/// Whether the server takes this text: 1 to `most` code points, without null characters.
func isText(_ text: String, _ most: Int) -> Bool {
    !text.isEmpty && text.unicodeScalars.count <= most && !text.unicodeScalars.contains("\0")
}

let anonymousPrefix = "$anon_"

func isAnonymous(_ user: String) -> Bool { user.hasPrefix(anonymousPrefix) }

private let nobody: Set<String> = [
    "no_user", "null", "(null)", "none", "nil", "nan", "undefined", "unidentified", "unknown", "anonymous", "guest",
    "0", "-1", "[]", "{}", "[object object]",
]

/// Whether the server takes this as the id of a user. Anonymous ids are the SDK's own.
func isUserId(_ id: String) -> Bool {
    isText(id, 256) && id.trimmingCharacters(in: .whitespacesAndNewlines) == id
        && !nobody.contains(id.lowercased()) && !isAnonymous(id)
}

private let mostAttributes = 100

/// The attributes of both; the later ones win.
func merged(_ attributes: Attributes?, _ later: Attributes?) -> Attributes {
    (attributes ?? [:]).merging(later ?? [:]) { $1 }
}

/// In one order everywhere.
func sorted(_ names: some Collection<String>) -> [String] { Array(names).sorted() }

/// Leaves out, one by one, what the server would refuse.
func cleaned(_ given: Attributes, _ debug: (String) -> Void) -> Attributes {
    var clean: Attributes = [:]
    for name in sorted(given.keys) {
        guard let value = given[name] else { continue }
        guard isText(name, 64), name != "__proto__", isValue(value), clean.count < mostAttributes else {
            debug("attribute \(name.prefix(64)) was left out")
            continue
        }
        clean[name] = plain(value)
    }
    return clean
}

private func isValue(_ value: AttributeValue) -> Bool {
    switch value {
    case .string(let text): return text.isEmpty || isText(text, 1024)
    case .double(let number): return number.isFinite
    default: return true
    }
}

/// Whole numbers have one form, because JSON has one.
private func plain(_ value: AttributeValue) -> AttributeValue {
    if case .double(let number) = value, let int = Int(exactly: number) { return .int(int) }
    return value
}

/// Decodes base64 or base64url, with or without padding.
func base64Decoded(_ text: String) -> Data? {
    let plain = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
    return Data(base64Encoded: plain + String(repeating: "=", count: (4 - plain.count % 4) % 4))
}
