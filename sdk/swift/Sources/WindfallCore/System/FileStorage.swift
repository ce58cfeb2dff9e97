import Foundation

/// A folder with one file per text.
package struct FileStorage: Storage {
    private static let suffix = ".json"
    private let folder: URL

    /// Makes the folder if it is missing.
    package init(folder: URL) throws {
        self.folder = folder
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        #if canImport(Darwin)
            // Apple asks that what is useless on another device stays out of backups.
            var values = URLResourceValues()
            values.isExcludedFromBackup = true
            var excluded = folder
            try? excluded.setResourceValues(values)
        #endif
        removeRemains()
    }

    package func read(_ name: String) throws -> String? {
        do {
            return String(data: try Data(contentsOf: file(name)), encoding: .utf8)
        } catch CocoaError.fileReadNoSuchFile {
            return nil
        }
    }

    package func write(_ name: String, _ text: String) throws {
        let next = folder.appendingPathComponent(name + Self.nextSuffix)
        try utf8(text).write(to: next)
        // Takes the place of the file in one step, which a kill comes before or after.
        guard rename(next.path, file(name).path) == 0 else { throw CocoaError(.fileWriteUnknown) }
    }

    package func remove(_ name: String) throws {
        do {
            try FileManager.default.removeItem(at: file(name))
        } catch CocoaError.fileNoSuchFile {
            return
        }
    }

    package func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(Self.suffix) }
            .map { String($0.dropLast(Self.suffix.count)) }
    }

    private static let nextSuffix = ".next"

    /// What a kill left of writes.
    private func removeRemains() {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        for name in files where name.hasSuffix(Self.nextSuffix) {
            try? FileManager.default.removeItem(at: folder.appendingPathComponent(name))
        }
    }

    private func file(_ name: String) -> URL { folder.appendingPathComponent(name + Self.suffix) }
}
