import Foundation
import WindfallCore

/// A text in the UserDefaults.
struct DefaultsCell: Cell {
    let name: String

    func read() throws -> String? { UserDefaults.standard.string(forKey: name) }
    func write(_ text: String?) throws { UserDefaults.standard.set(text, forKey: name) }
}

/// The place of the anonymous id, which `configure` chooses. An id that is only in the other place is taken from there.
final class AnonymousIdCell: Cell, @unchecked Sendable {
    private let defaults: any Cell
    private let keychain: any Cell
    private let lock = NSLock()
    private var isKeychain = false

    init(defaults: any Cell, keychain: any Cell) {
        self.defaults = defaults
        self.keychain = keychain
    }

    func choose(keychain: Bool) {
        lock.lock()
        isKeychain = keychain
        lock.unlock()
    }

    func read() throws -> String? {
        guard isInKeychain else { return try defaults.read() }
        return try keychain.read() ?? defaults.read()
    }

    func write(_ text: String?) throws {
        try (isInKeychain ? keychain : defaults).write(text)
    }

    private var isInKeychain: Bool {
        lock.lock()
        defer { lock.unlock() }
        return isKeychain
    }
}
