import Foundation
import XCTest

@testable import WindfallCore

/// The storage in files.
final class FileStorageTests: XCTestCase {
    private var folder = URL(fileURLWithPath: "/")

    override func setUpWithError() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    }

    override func tearDownWithError() throws {
        try? FileManager.default.removeItem(at: folder)
    }

    func testWhatWasWrittenIsThereForTheNextProcess() throws {
        let storage = try FileStorage(folder: folder)
        XCTAssertNil(try storage.read("a"))
        try storage.write("a", "one")
        try storage.write("a", "zwölf")
        try storage.write("q.1", "two")
        let next = try FileStorage(folder: folder)
        XCTAssertEqual(try next.read("a"), "zwölf")
        XCTAssertEqual(try next.names().sorted(), ["a", "q.1"])
        try next.remove("a")
        try next.remove("a")
        XCTAssertEqual(try storage.names(), ["q.1"])
    }

    func testAWriteThatAKillCutIsNoText() throws {
        let storage = try FileStorage(folder: folder)
        try storage.write("a", "one")
        try Data("tw".utf8).write(to: folder.appendingPathComponent("a.next"))
        XCTAssertEqual(try storage.names(), ["a"])
        let next = try FileStorage(folder: folder)
        XCTAssertEqual(try next.read("a"), "one")
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder.path), ["a.json"])
    }

    func testWhatCannotBeWrittenOrReadThrows() throws {
        let storage = try FileStorage(folder: folder)
        try FileManager.default.removeItem(at: folder)
        XCTAssertThrowsError(try storage.write("a", "one"))
        XCTAssertThrowsError(try storage.names())
        XCTAssertThrowsError(try FileStorage(folder: URL(fileURLWithPath: "/proc/none")))
    }

    func testTextsThatAreNoItemsAreRemovedAndAStateOfAnotherVersionIsRead() throws {
        let world = World()
        world.stored = [
            "q.000000000007.0000.abcdef12": "{\"call\":\"ident",
            "s": "{\"anonymousId\":\"$anon_1\",\"user\":\"ann\",\"known\":7,\"later\":true}",
        ]
        world.boot()
        world.process.run { $0.configure(Options(url: "https://a.example.com", bundleId: "b")) }
        let state = world.process.run { $0.debugState() }
        XCTAssertEqual(state.appUserId, "ann")
        XCTAssertEqual(state.anonymousId, "$anon_1")
        XCTAssertEqual(Array(world.stored.keys), ["s"])
    }

    func testTheAnonymousIdOutlivesTheFiles() {
        let world = World()
        let configure = { (engine: Engine) in engine.configure(Options(url: "https://a.example.com", bundleId: "b")) }
        world.process.run(configure)
        let first = world.process.run { $0.debugState() }.anonymousId
        XCTAssertNotNil(first)
        world.stored = [:]
        world.boot()
        world.process.run(configure)
        XCTAssertEqual(world.process.run { $0.debugState() }.anonymousId, first)
        world.process.run { $0.reset(nil) }
        let second = world.process.run { $0.debugState() }.anonymousId
        XCTAssertNotEqual(second, first)
        world.stored = [:]
        world.boot()
        world.process.run(configure)
        XCTAssertEqual(world.process.run { $0.debugState() }.anonymousId, second)
    }
}
