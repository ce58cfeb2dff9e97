/// The storage as the engine uses it: a write never fails. What the storage refuses stays in memory and is written with the
/// next occasion.
struct Store {
    let storage: any Storage
    /// What the storage refused.
    private var writes: [String: String] = [:]
    private var removals: Set<String> = []

    init(_ storage: (any Storage)?) { self.storage = storage ?? NoStorage() }

    var isComplete: Bool { writes.isEmpty && removals.isEmpty }

    /// Whether the storage has what was last wanted of `name`.
    func has(_ name: String) -> Bool { writes[name] == nil && !removals.contains(name) }

    /// Returns whether it is in the storage, and not in memory only.
    mutating func write(_ name: String, _ text: String) -> Bool {
        removals.remove(name)
        writes[name] = text
        guard (try? storage.write(name, text)) != nil else { return false }
        writes[name] = nil
        return true
    }

    /// Returns whether it is gone from the storage.
    @discardableResult
    mutating func erase(_ name: String) -> Bool {
        writes[name] = nil
        removals.insert(name)
        do {
            try storage.remove(name)
        } catch {
            guard isGone(name) else { return false }
        }
        removals.remove(name)
        return true
    }

    private func isGone(_ name: String) -> Bool {
        do {
            return try storage.read(name) == nil
        } catch {
            return false
        }
    }

    /// Tries again what was refused. Returns whether the storage still has something that was removed.
    mutating func retry() -> Bool {
        for name in sorted(writes.keys) { _ = write(name, writes[name] ?? "") }
        var hasGhosts = false
        for name in sorted(removals) where !erase(name) { hasGhosts = true }
        return hasGhosts
    }
}

/// A storage that refuses all: what a storage refuses stays in memory.
private struct NoStorage: Storage {
    struct Refusal: Error {}
    func read(_ name: String) throws -> String? { nil }
    func write(_ name: String, _ text: String) throws { throw Refusal() }
    func remove(_ name: String) throws {}
    func names() throws -> [String] { [] }
}
