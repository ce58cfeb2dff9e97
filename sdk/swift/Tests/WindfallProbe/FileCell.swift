import WindfallCore

/// A text in a file beside others.
struct FileCell: Cell {
    private let storage: FileStorage
    private let name: String

    init(_ storage: FileStorage, _ name: String) {
        self.storage = storage
        self.name = name
    }

    func read() throws -> String? { try storage.read(name) }
    func write(_ text: String?) throws {
        if let text { try storage.write(name, text) } else { try storage.remove(name) }
    }
}
