package dev.windfall.core

/**
 * The SDK of one install. Its functions may be called from any thread, return at once and take effect in the order of their
 * calls. `done` is called on the thread of the core when the call is in the storage, or in memory only: before `configure`,
 * and while the storage cannot be read or refuses it.
 *
 * @param open called once, on the thread of the core
 */
internal class Core(private val thread: CoreThread, open: () -> Environment) {
    private val engine by lazy(LazyThreadSafetyMode.NONE) { Engine(open()) }

    /** Starts the SDK, or changes its options. */
    fun configure(options: Options) = send { it.configure(options) }

    fun identify(user: String, attributes: Map<String, Any?>, done: () -> Unit) =
        send { it.identify(user, attributes, done) }

    fun setAttributes(attributes: Map<String, Any?>, done: () -> Unit) = send { it.setAttributes(attributes, done) }

    /** @param isObserved the app passes on what the store lists, so a report that changes nothing is left out */
    fun attributePurchase(sale: Sale, isObserved: Boolean, done: () -> Unit) =
        send { it.attributePurchase(sale, isObserved, done) }

    fun reset(done: () -> Unit) = send { it.reset(done) }

    /** The foreground or a connection: tries now what failed for lack of a connection. */
    fun wake() = send { it.wake() }

    /** Tries to send now. `done` follows when all that can be sent was sent. */
    fun flush(done: () -> Unit) = send { it.flush(done) }

    fun snapshot(done: (Snapshot) -> Unit) = send { done(it.snapshot()) }

    private fun send(work: (Engine) -> Unit) = thread.run { work(engine) }
}
