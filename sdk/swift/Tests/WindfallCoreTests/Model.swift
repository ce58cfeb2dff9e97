@testable import WindfallCore

/// Whether a report happened for sure: a kill may have cut its call.
final class Report<Value> {
    let value: Value
    var isSure: Bool

    init(_ value: Value, _ isSure: Bool) {
        self.value = value
        self.isSure = isSure
    }
}

enum ModelCall {
    case identify(user: String, value: Int?)
    case setAttributes(name: String, value: Int)
    case reset
    case attributePurchase(id: String, isAsked: Bool, jws: String?)
}

/// How a call ended: in the storage, in memory because the storage refused it, or by a kill.
enum Ending {
    case stored, risky, cut
}

struct ModelIdentity {
    let user: String?
    let anonymousId: String
}

/// What an app may expect of the SDK: the reports that its calls mean, in order, by user.
struct Model {
    /// Who the calls are for, and what was reported of the anonymous id.
    private struct Who {
        var anonymousId: String
        var user: String?
        /// By name, all values so far.
        var attributes: [String: [(value: Int, isSure: Bool)]] = [:]
        var purchases: [(id: String, isSure: Bool)] = []
    }

    private struct Risk {
        var made: [() -> Void]
        var before: Who
        var ending: Ending
    }

    private(set) var purchases: [String: [Report<String>]] = [:]
    /// By user and name of the attribute.
    private(set) var values: [String: [Report<Int>]] = [:]
    private(set) var users: Set<String> = []
    private var who: Who
    /// What a kill may undo since the storage had everything.
    private var risky: [Risk] = []
    /// No kill so far lost what the storage had refused.
    private var isPureSoFar = true

    init(_ first: ModelIdentity) {
        who = Who(anonymousId: first.anonymousId)
    }

    /// Applies a call that ended so. `anonymousId` is the one after it.
    mutating func apply(_ call: ModelCall, _ anonymousId: String, _ ending: Ending) {
        let before = who
        let made = make(call, anonymousId, ending != .cut)
        if case .identify(let user, _) = call, ending == .stored { users.insert(user) }
        risky = ending == .stored ? [] : risky + [Risk(made: made, before: before, ending: ending)]
    }

    /// Makes the reports of a call, and returns what makes each unsure.
    private mutating func make(_ call: ModelCall, _ anonymousId: String, _ isSure: Bool) -> [() -> Void] {
        switch call {
        case .identify(let user, let value): return identify(user, value, isSure)
        case .attributePurchase(let id, let isAsked, _): return attributePurchase(id, isAsked, isSure)
        case .reset:
            who = Who(anonymousId: anonymousId)
            return []
        case .setAttributes(let name, let value):
            if who.user == nil { who.attributes[name, default: []].append((value, isSure)) }
            return [add(value, isSure, of: who.user ?? who.anonymousId, name)]
        }
    }

    private mutating func identify(_ user: String, _ value: Int?, _ isSure: Bool) -> [() -> Void] {
        var made: [() -> Void] = []
        let old = who
        if old.user != user { who = Who(anonymousId: old.anonymousId, user: user) }
        if old.user == nil {
            for (name, all) in old.attributes.sorted(by: { $0.key < $1.key }) {
                for one in Self.last(of: all) { made.append(add(one.value, isSure && one.isSure, of: user, name)) }
            }
            for one in old.purchases { made.append(report(one.id, user, isSure && one.isSure)) }
        }
        if let value { made.append(add(value, isSure, of: user, "a")) }
        return made
    }

    private mutating func attributePurchase(_ id: String, _ isAsked: Bool, _ isSure: Bool) -> [() -> Void] {
        let user = who.user ?? who.anonymousId
        let reports = purchases[id] ?? []
        let isOthers = reports.contains { !isAnonymous($0.value) && $0.isSure }
        if !isAsked && isAnonymous(user) && isOthers && isPureSoFar { return [] }
        // A report that was not asked for is left out where it changes nothing.
        let isSure = isSure && (isAsked || reports.isEmpty)
        if who.user == nil {
            if let at = who.purchases.firstIndex(where: { $0.id == id }) {
                who.purchases[at].isSure = isSure || who.purchases[at].isSure
            } else {
                who.purchases.append((id, isSure))
            }
        }
        return [report(id, user, isSure)]
    }

    /// The last sure value and those after it: one of them is the last.
    private static func last(of all: [(value: Int, isSure: Bool)]) -> ArraySlice<(value: Int, isSure: Bool)> {
        all.suffix(from: all.lastIndex { $0.isSure } ?? 0)
    }

    private mutating func add(_ value: Int, _ isSure: Bool, of user: String, _ name: String) -> () -> Void {
        let report = Report(value, isSure)
        values["\(user) \(name)", default: []].append(report)
        return { report.isSure = false }
    }

    private mutating func report(_ id: String, _ user: String, _ isSure: Bool) -> () -> Void {
        let report = Report(user, isSure)
        purchases[id, default: []].append(report)
        return { report.isSure = false }
    }

    /// After a kill and a restart: what was at risk may be lost, and the identity may be an earlier one.
    mutating func restart(_ now: ModelIdentity, isPure: Bool) throws {
        for one in risky { for unsure in one.made { unsure() } }
        // A known user who was left, in a call that ended, does not come back, even if the storage refused to say so.
        let earlier = risky.filter { $0.ending == .cut || $0.before.user == nil }.map(\.before).reversed()
        risky = []
        isPureSoFar = isPureSoFar && isPure
        let found = ([who] + earlier).first {
            $0.user == now.user && ($0.anonymousId == now.anonymousId || now.user != nil)
        }
        if found == nil, let user = now.user { throw Failure(text: "after a kill the user is \(user)") }
        who = found ?? Who(anonymousId: "", user: now.user)
        who.anonymousId = now.anonymousId
        if !isPure { forgetCertainty() }
    }

    private mutating func forgetCertainty() {
        who.attributes = who.attributes.mapValues { $0.map { ($0.value, false) } }
        who.purchases = who.purchases.map { ($0.id, false) }
    }
}

/// Whether `held`, the users that held a purchase one after another, follows from the reports.
func follows(_ held: [String], _ reports: [Report<String>]) -> Bool {
    var reached: Set<Int> = [0]
    for report in reports {
        reached = Set(reached.flatMap { after(report, held, $0) })
    }
    return reached.contains(held.count)
}

/// How many of `held` may have been reached after a report, from `count`.
private func after(_ report: Report<String>, _ held: [String], _ count: Int) -> [Int] {
    let reached = report.isSure ? [] : [count]
    if count > 0, held[count - 1] == report.value { return reached + [count] }
    return count < held.count && held[count] == report.value ? reached + [count + 1] : reached
}

/// Whether the values that an attribute had are in the order of the calls, and end at the last sure one or later.
func isHistory(_ had: [Int], _ values: [Report<Int>]) -> Bool {
    let places = values.map(\.value)
    var at = -1
    for one in had.dropLast() {
        guard let next = places.indices.first(where: { $0 > at && places[$0] == one }) else { return false }
        at = next
    }
    let last = had.last.flatMap { places.lastIndex(of: $0) } ?? -1
    let lastSure = values.lastIndex { $0.isSure } ?? -1
    return (last > at || had.isEmpty) && last >= lastSure
}
