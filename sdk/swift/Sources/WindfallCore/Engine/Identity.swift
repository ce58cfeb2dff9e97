/// Who the calls are for.
extension Engine {
    func identify(_ user: String, _ given: Attributes, _ done: (() -> Void)?) {
        guard isUserId(user) else { return leaveOut("\"\(user.prefix(64))\" is not a user id", done) }
        call({ $0.identify(user, given, $1) }, done)
    }

    func setAttributes(_ given: Attributes, _ done: (() -> Void)?) {
        call({ $0.setAttributes(given, $1) }, done)
    }

    func reset(_ done: (() -> Void)?) {
        call({ engine, _ in engine.reset() }, done)
    }

    func attributePurchase(_ purchase: Purchase, _ occasion: Occasion, _ done: (() -> Void)?) {
        guard isText(purchase.originalTransactionId, 2048) else { return leaveOut("a purchase without an id", done) }
        call({ $0.attributePurchase(purchase, occasion, $1) }, done)
    }

    private func leaveOut(_ what: String, _ done: (() -> Void)?) {
        debug("left out: \(what)")
        done?()
    }

    private func identify(_ user: String, _ given: Attributes, _ target: Target) {
        let clean = cleaned(given, debug)
        if state.user != user {
            let wasKnown = state.user != nil
            state.pending = [item(of: user, target, merged(state.attributes, clean))]
            state.pending += state.purchases.map { item(of: user, target, $0) }
            state.user = user
            state.attributes = [:]
            state.purchases = []
            saveState(isStrict: wasKnown)
            return finishChange()
        }
        let (attributes, device) = expected(user, target)
        let isNew = clean.contains { attributes[$0.key] != $0.value }
        if isNew || device != target.device { add(item(of: user, target, clean)) }
    }

    private func setAttributes(_ given: Attributes, _ target: Target) {
        let clean = cleaned(given, debug)
        if clean.isEmpty { return }
        // Kept for identify first: a kill between the two must not leave it reported and not kept.
        if state.user == nil {
            state.attributes = merged(state.attributes, clean)
            saveState()
        }
        add(item(of: state.current, target, clean))
    }

    private func reset() {
        let wasKnown = state.user != nil
        state.anonymousId = newAnonymousId()
        state.user = nil
        state.attributes = [:]
        state.purchases = []
        saveState(isStrict: wasKnown)
        keepAnonymousId()
    }

    private func attributePurchase(_ purchase: Purchase, _ occasion: Occasion, _ target: Target) {
        guard let sale = Sale(purchase, device: target.device.platform) else { return }
        let item = item(of: state.current, target, sale)
        if isUseless(item, sale, occasion) { return }
        if state.user == nil { state.keepReported(sale, item.at) }
        state.followReport(item)
        saveState()
        add(item)
    }

    /// Whether a report that the app did not ask for would be wrong or change nothing.
    private func isUseless(_ item: Item, _ sale: Sale, _ occasion: Occasion) -> Bool {
        if occasion == .asked { return false }
        for one in state.known where one.id == sale.id {
            if isCovered(item.user, sale, occasion, by: one.user, one.isKnown, one.transaction) { return true }
        }
        for entry in entries {
            guard let other = entry.item.purchase, other.id == sale.id else { continue }
            let user = entry.item.user
            if entry.item.lane != item.lane {
                // What waits for another destination may never arrive.
                if isAnonymous(item.user) && !isAnonymous(user) { return true }
            } else if isCovered(item.user, sale, occasion, by: user, !isAnonymous(user), other.transaction) {
                return true
            }
        }
        return false
    }

    /// Whether another report of the purchase makes this one useless. `isKnown`: a known user has or had it.
    private func isCovered(
        _ user: String, _ sale: Sale, _ occasion: Occasion, by other: String, _ isKnown: Bool, _ transaction: String
    ) -> Bool {
        if occasion == .past || (isKnown && isAnonymous(user)) { return true }
        return transaction == sale.transaction && (occasion == .found || other == user)
    }

    /// Queues what follows from a change of user, also if a kill left that half-done.
    func finishChange() {
        if state.pending.isEmpty { return }
        for item in state.pending {
            state.followReport(item)
            add(item)
        }
        state.pending = []
        saveState(isStrict: true)
    }

    /// What the user has, once all that waits is accepted. `device` is nil if nothing was or will be reported.
    private func expected(_ user: String, _ target: Target) -> (attributes: Attributes, device: Device?) {
        let lane = target.lane
        var expected: (attributes: Attributes, device: Device?) = ([:], nil)
        if let accepted = state.accepted, accepted.user == user, accepted.lane == lane {
            expected = (accepted.attributes ?? [:], accepted.device)
        }
        for entry in entries {
            let item = entry.item
            if item.call != .identify || item.user != user || item.lane != lane { continue }
            expected.attributes = merged(expected.attributes, item.attributes)
            expected.device = item.device
        }
        return expected
    }

    /// The item of an identify call. Attributes that do not fit into its body are left out.
    private func item(of user: String, _ target: Target, _ attributes: Attributes) -> Item {
        var fitting: Attributes = [:]
        for name in sorted(attributes.keys) {
            var more = fitting
            more[name] = attributes[name]
            if Json.data(more).count < mostBodyBytes {
                fitting = more
            } else {
                debug("attribute \(name) does not fit")
            }
        }
        return Item(identify: user, target, now, fitting)
    }

    /// The item of a purchase. A proof that is too long for a body is left out.
    private func item(of user: String, _ target: Target, _ sale: Sale) -> Item {
        var sale = sale
        sale.at = nil
        if let jws = sale.jws, jws.utf8.count >= mostBodyBytes { sale.jws = nil }
        return Item(attribute: user, target, now, sale)
    }
}
