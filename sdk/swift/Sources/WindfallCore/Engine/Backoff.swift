/// Waits between tries, in milliseconds.

let dayMs = 86_400_000.0
/// The longest wait after a lost connection.
let softMs = 15 * 60_000.0
/// How long a request, or App Attest, may take.
let answerMs = 9000.0

/// A wait that ends at `until`; `length` is its whole length.
struct Wait: Codable {
    var until: Double
    var length: Double

    init(_ length: Double, from now: Double) {
        self.length = length
        until = now + length
    }

    /// What is left. A clock that was turned back ends the wait, so that it cannot last longer than it was meant to.
    func left(_ now: Double) -> Double {
        let left = until - now
        return left <= length ? max(0, left) : 0
    }
}

/// Full jitter: a part of 1 s, 2 s, 4 s … up to `most`. `random` is from 0 to 1.
func jitter(_ random: Double, _ tries: Int, _ most: Double) -> Double {
    random * min(most, 1000 * Double(1 << min(tries, 30)))
}

/// Milliseconds of a `retry-after` header, one second to a day; nil without whole seconds.
func retryAfterMs(_ header: String?) -> Double? {
    guard let header, !header.isEmpty, header.utf8.allSatisfy({ (48...57).contains($0) }),
        let seconds = Double(header)
    else { return nil }
    return min(dayMs, max(1000, seconds * 1000))
}
