import Foundation

/// Any JSON.
enum JsonValue: Equatable {
    case null
    case bool(Bool)
    case number(Double)
    case text(String)
    case list([JsonValue])
    case object([String: JsonValue])

    init(parsing data: Data) throws {
        self = try JSONDecoder().decode(JsonValue.self, from: data)
    }

    subscript(name: String) -> JsonValue? {
        if case .object(let fields) = self { return fields[name] }
        return nil
    }

    var text: String? { if case .text(let text) = self { return text } else { return nil } }
    var number: Double? { if case .number(let number) = self { return number } else { return nil } }
    var list: [JsonValue]? { if case .list(let list) = self { return list } else { return nil } }
    var object: [String: JsonValue]? { if case .object(let object) = self { return object } else { return nil } }

    /// With `{n}` in texts replaced.
    func numbered(_ number: Int) -> JsonValue {
        switch self {
        case .text(let text): return .text(text.replacingOccurrences(of: "{n}", with: String(number)))
        case .list(let list): return .list(list.map { $0.numbered(number) })
        case .object(let fields): return .object(fields.mapValues { $0.numbered(number) })
        default: return self
        }
    }
}

extension JsonValue: Codable {
    init(from decoder: Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let bool = try? value.decode(Bool.self) {
            self = .bool(bool)
        } else if let number = try? value.decode(Double.self) {
            self = .number(number)
        } else if let text = try? value.decode(String.self) {
            self = .text(text)
        } else if let list = try? value.decode([JsonValue].self) {
            self = .list(list)
        } else {
            self = .object(try value.decode([String: JsonValue].self))
        }
    }

    func encode(to encoder: Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .null: try value.encodeNil()
        case .bool(let bool): try value.encode(bool)
        case .number(let number): try value.encode(number)
        case .text(let text): try value.encode(text)
        case .list(let list): try value.encode(list)
        case .object(let fields): try value.encode(fields)
        }
    }
}
