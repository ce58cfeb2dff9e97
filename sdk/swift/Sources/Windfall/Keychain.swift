import Foundation
import Security
import WindfallCore

struct KeychainError: Error, Equatable {
    let status: OSStatus
}

/// A text in the Keychain of this device. It is not in backups, and survives a reinstall of the app.
struct KeychainCell: Cell {
    /// Apps may share a Keychain: the service names the app.
    let service: String
    let account: String

    func read() throws -> String? {
        var found: CFTypeRef?
        let status = SecItemCopyMatching(dictionary([kSecReturnData: true]), &found)
        if status == errSecItemNotFound { return nil }
        guard status == errSecSuccess, let data = found as? Data else { throw KeychainError(status: status) }
        return String(decoding: data, as: UTF8.self)
    }

    func write(_ text: String?) throws {
        let status = text.map(store) ?? SecItemDelete(dictionary())
        guard status == errSecSuccess || (text == nil && status == errSecItemNotFound) else {
            throw KeychainError(status: status)
        }
    }

    private func store(_ text: String) -> OSStatus {
        let data = Data(text.utf8)
        let status = SecItemUpdate(dictionary(), NSDictionary(dictionary: [kSecValueData: data]) as CFDictionary)
        guard status == errSecItemNotFound else { return status }
        return SecItemAdd(
            dictionary([
                kSecValueData: data,
                // A flush in the background reads it while the device is locked.
                kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            ]), nil)
    }

    private func dictionary(_ more: [CFString: Any] = [:]) -> CFDictionary {
        let item: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: account,
        ]
        return NSDictionary(dictionary: item.merging(more) { $1 }) as CFDictionary
    }
}
