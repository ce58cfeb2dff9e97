import Foundation

/// JSON in one form: with sorted names, so that equal values have equal texts.
enum Json {
    static func data(_ value: any Encodable) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(value)) ?? Data()
    }

    static func text(_ value: any Encodable) -> String {
        String(data: data(value), encoding: .utf8) ?? ""
    }

    /// Nil for what is not JSON of that form.
    static func value<T: Decodable>(_ type: T.Type, _ text: String?) -> T? {
        text.flatMap { decoded(type, $0) } as? T
    }

    private static func decoded(_ type: any Decodable.Type, _ text: String) -> (any Decodable)? {
        try? JSONDecoder().decode(type, from: utf8(text))
    }

    /// The fields of a JSON object; empty for anything else, such as the page of a captive portal.
    static func fields(_ data: Data) -> [String: Any] {
        (try? JSONSerialization.jsonObject(with: data)) as? [String: Any] ?? [:]
    }
}
