package dev.windfall.core

import kotlin.math.max

/**
 * The SDK of one install, on one thread: each function runs to its end, and waits are callbacks of the network and of timers.
 * Calls wait in memory until the stored state is loaded. From then on memory has everything, and the storage follows.
 */
internal class Engine(val environment: Environment) {
    var target: Target? = null
    var debug: (String) -> Unit = {}

    val store = Store(environment.storage)
    var isLoaded = false

    /** What is stored beside the queue, once it is loaded. */
    var state = State("")

    /** The queue, in order. */
    val entries = ArrayList<Entry>()

    /** The highest sequence number so far. */
    var last = 0L

    /** The name of the item that is being sent: it is neither joined nor dropped. */
    var inFlight: String? = null

    /** Waits after a lost connection, by destination. They end with the process. */
    val soft = HashMap<String, State.Kept>()
    var lastAnswer: String? = null

    /** Calls that the storage has not taken yet, and those before `configure`. */
    private val calls = ArrayDeque<Call>()
    private val flushes = ArrayList<() -> Unit>()
    private var cancelAlarm: () -> Unit = {}
    private var stalls = 0

    private class Call(val run: (Target) -> Unit, var done: () -> Unit)

    val now get() = environment.now()
    val hasWaitingCalls get() = calls.isNotEmpty()

    /** Runs `run` in its turn. `done` follows it. Calls before `configure` wait for it. */
    fun call(run: (Target) -> Unit, done: () -> Unit) {
        if (calls.size < (if (target == null) MOST_EARLY_CALLS else MOST_CALLS)) {
            calls += Call(run, done)
        } else {
            debug("too many calls")
            done()
        }
        wake()
    }

    /** Foreground, connectivity or a call: tries now what failed for lack of a connection. */
    fun wake() {
        soft.clear()
        pump()
    }

    /** `done` follows when all that can be sent was sent. */
    fun flush(done: () -> Unit) {
        flushes += done
        wake()
    }

    /** Runs the calls, then sends what need not wait. Each event ends here. */
    fun pump() {
        val target = target ?: return endWaits()
        if (!load()) {
            stalls++
            setAlarm(jitter(environment.random(), stalls, SOFT_MS))
            return endWaits()
        }
        stalls = 0
        while (true) {
            val call = calls.removeFirstOrNull() ?: break
            state.prune(now)
            call.run(target)
            call.done()
        }
        if (inFlight == null) sendNext()
    }

    private fun sendNext() {
        when (val next = pick()) {
            is Next.Send -> send(next.entry)

            is Next.Wait -> {
                setAlarm(next.milliseconds)
                endFlushes()
            }
        }
    }

    /** Nobody waits for a `configure` that may never come, or for a storage that may stay unreadable. */
    private fun endWaits() {
        for (call in calls) {
            val done = call.done
            call.done = {}
            done()
        }
        endFlushes()
    }

    private fun endFlushes() {
        val ended = flushes.toList()
        flushes.clear()
        for (done in ended) done()
    }

    private fun setAlarm(milliseconds: Long?) {
        cancelAlarm()
        cancelAlarm = {}
        if (milliseconds == null) return
        cancelAlarm = environment.timers.after(max(0, milliseconds) + 1) {
            cancelAlarm = {}
            pump()
        }
    }

    private companion object {
        const val MOST_EARLY_CALLS = 100
        const val MOST_CALLS = 1000
    }
}

/** Where calls go now. */
internal class Target(val url: String, val bundleId: String, val key: String?, val device: Device) {
    val lane get() = "$url $bundleId"
}
