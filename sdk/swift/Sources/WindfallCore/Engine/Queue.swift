/// The queue: one stored text per item, `q.<sequence>.<version>.<random>`. The text below a name never changes. A changed
/// item is a new name with the same sequence and the next version, written before the old one is removed: a kill between
/// the two leaves both, in the order in which they may be sent.

private let mostItems = 1000
private let mostBytes = 1_000_000
/// Below the server's 64 KiB, with room for the other fields.
let mostBodyBytes = 48_000

extension Engine {
    /// Adds to the end. Attributes join those of the same user, if no purchase of that user lies between.
    func add(_ item: Item) {
        if item.call != .identify || !join(item) {
            last += 1
            insert(item, at: entries.count, name(padded(last, 12), 0))
        }
        evict()
    }

    private func join(_ item: Item) -> Bool {
        guard let at = entries.lastIndex(where: { $0.item.user == item.user && $0.item.lane == item.lane }),
            entries[at].item.call == .identify, entries[at].name != inFlight
        else { return false }
        let before = entries[at]
        let joined = before.item.joined(with: item)
        let text = Json.text(joined)
        guard text.utf8.count <= mostBodyBytes else { return false }
        let next = name(before.sequence, before.version + 1)
        guard store.write(next, text) else {
            store.erase(next)
            return false
        }
        store.erase(before.name)
        entries[at] = Entry(name: next, item: joined, bytes: text.utf8.count)
        return true
    }

    private func insert(_ item: Item, at index: Int, _ name: String) {
        let text = Json.text(item)
        _ = store.write(name, text)
        entries.insert(Entry(name: name, item: item, bytes: text.utf8.count), at: index)
    }

    func remove(_ name: String) {
        store.erase(name)
        entries.removeAll { $0.name == name }
    }

    /// Drops the oldest attributes, then the oldest purchases, while there is too much.
    private func evict() {
        var bytes = entries.reduce(0) { $0 + $1.bytes }
        for call in [Item.Call.identify, .attribute] {
            for entry in entries where entry.item.call == call && entry.name != inFlight {
                if entries.count <= mostItems && bytes <= mostBytes { return }
                lose(entry.item, "evicted")
                saveState()
                remove(entry.name)
                bytes -= entry.bytes
            }
        }
    }

    /// Keeps a purchase that will not be sent again where the app can see it.
    func lose(_ item: Item, _ code: String) {
        debug("dropped a call for \(item.user): \(code)")
        state.lose(item, code, now)
    }

    private func name(_ sequence: String, _ version: Int) -> String {
        "q.\(sequence).\(padded(version, 4)).\(environment.uuid().prefix(8))"
    }
}

private func padded(_ number: Int, _ digits: Int) -> String {
    String(String(1_000_000_000_000_000 + number).suffix(digits))
}
