import Foundation

/// A list that one side fills and another empties, in order, from any thread.
final class Inbox<Element: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var elements: [Element] = []

    func add(_ element: Element) {
        lock.lock()
        elements.append(element)
        lock.unlock()
    }

    func next() -> Element? {
        lock.lock()
        defer { lock.unlock() }
        return elements.isEmpty ? nil : elements.removeFirst()
    }
}
