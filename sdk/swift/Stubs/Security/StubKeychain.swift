/// The Keychain of a test: generic passwords by service and account.
import Foundation

public final class StubKeychain: @unchecked Sendable {
    public static let shared = StubKeychain()

    private let lock = NSLock()
    private var items: [String: Item] = [:]
    private var failure: OSStatus?

    public struct Item: Sendable {
        public var data: Data
        public var accessible: String
    }

    public func reset() {
        locked {
            items = [:]
            failure = nil
        }
    }

    /// Makes each call fail with this status, until it is nil. A locked device gives -25308.
    public func fail(with status: OSStatus?) { locked { failure = status } }

    /// The items, by service and account with a slash between them.
    public var contents: [String: Item] { locked { items } }

    func add(_ attributes: CFDictionary) -> OSStatus {
        locked {
            if let failure { return failure }
            let key = nameOf(attributes)
            if items[key] != nil { return -25299 }
            items[key] = Item(
                data: attributes[kSecValueData] as? Data ?? Data(),
                accessible: text(attributes[kSecAttrAccessible])
            )
            return errSecSuccess
        }
    }

    func find(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
        locked {
            if let failure { return failure }
            guard let item = items[nameOf(query)] else { return errSecItemNotFound }
            if query[kSecReturnData] as? Bool == true { result?.pointee = NSData(data: item.data) }
            return errSecSuccess
        }
    }

    func update(_ query: CFDictionary, _ attributes: CFDictionary) -> OSStatus {
        locked {
            if let failure { return failure }
            let key = nameOf(query)
            guard var item = items[key] else { return errSecItemNotFound }
            if let data = attributes[kSecValueData] as? Data { item.data = data }
            items[key] = item
            return errSecSuccess
        }
    }

    func remove(_ query: CFDictionary) -> OSStatus {
        locked {
            if let failure { return failure }
            return items.removeValue(forKey: nameOf(query)) == nil ? errSecItemNotFound : errSecSuccess
        }
    }

    private func nameOf(_ query: CFDictionary) -> String {
        "\(text(query[kSecAttrService]))/\(text(query[kSecAttrAccount]))"
    }

    private func text(_ value: Any?) -> String { value.map { "\($0)" } ?? "" }

    private func locked<T>(_ work: () -> T) -> T {
        lock.lock()
        defer { lock.unlock() }
        return work()
    }
}
