private let stateName = "s"
private let queuePrefix = "q."

extension Engine {
    /// Loads what is stored, once. Returns false while the storage cannot be read.
    func load() -> Bool {
        if isLoaded { return true }
        do {
            let names = sorted(try store.storage.names()).filter { $0.hasPrefix(queuePrefix) }
            let stored = Json.value(State.self, try store.storage.read(stateName))
            let texts = try names.map { ($0, try store.storage.read($0)) }
            state = stored ?? State(anonymousId: storedAnonymousId() ?? newAnonymousId())
            isLoaded = true
            hasStoredProofs = stored?.refusedProofs.isEmpty == false
            for (name, text) in texts { restore(name, text) }
            if stored == nil { saveState() }
            keepAnonymousId()
            state.prune(now)
            finishChange()
            return true
        } catch {
            debug("the storage cannot be read")
            return false
        }
    }

    /// What cannot be read as an item is removed.
    private func restore(_ name: String, _ text: String?) {
        guard let text, let item = Json.value(Item.self, text) else {
            store.erase(name)
            return
        }
        let entry = Entry(name: name, item: item, bytes: text.utf8.count)
        entries.append(entry)
        last = max(last, Int(entry.sequence) ?? 0)
    }

    func newAnonymousId() -> String { anonymousPrefix + environment.uuid() }

    private func storedAnonymousId() -> String? {
        guard let id = try? environment.anonymousId.read(), isAnonymous(id), isText(id, 64) else { return nil }
        return id
    }

    /// Keeps the anonymous id in its second place, too.
    func keepAnonymousId() {
        if (try? environment.anonymousId.read()) != state.anonymousId {
            try? environment.anonymousId.write(state.anonymousId)
        }
    }

    /// Writes again what the storage refused. Returns whether it still has something that was removed.
    func retryWrites() -> Bool {
        let hasGhosts = store.retry()
        if store.has(stateName) { hasStoredProofs = !state.refusedProofs.isEmpty }
        return hasGhosts
    }

    /// What the storage has comes back after a kill, if it refuses the change. With refused proofs in it that would be wrong:
    /// they would be tried for an earlier user. `isStrict`: it must not come back either.
    func saveState(isStrict: Bool = false) {
        let text = Json.text(state)
        if store.write(stateName, text) {
            hasStoredProofs = !state.refusedProofs.isEmpty
        } else if isStrict || hasStoredProofs {
            if store.erase(stateName) { hasStoredProofs = false }
            _ = store.write(stateName, text)
        }
    }
}
