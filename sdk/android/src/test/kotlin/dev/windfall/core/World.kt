package dev.windfall.core

import java.io.IOException
import kotlin.math.max

/** An operation of the storage. */
internal enum class Operation { READ, WRITE, REMOVE, NAMES }

/** Whether an operation of the storage fails. [AFTER]: it fails although it took effect. */
internal enum class Fault { NO, BEFORE, AFTER }

/** The network of a test: an answer, or null without one. */
internal sealed class Outcome {
    class Now(val answer: Answer?) : Outcome()

    /** The answer comes with `release`. */
    class Later(val answer: Answer?) : Outcome()
}

/** What a test found wrong. */
internal class Failure(message: String) : Exception(message)

/**
 * The world around the SDK in tests: a clock and timers turned by hand, a network and a storage that fail on request, and
 * processes that are killed between any two operations.
 */
internal class World {
    /** What survives a kill. */
    val stored = HashMap<String, String>()
    var fault: (Operation) -> Fault = { Fault.NO }
    var answer: (Request) -> Outcome = { Outcome.Now(null) }
    var random: () -> Double = { 1.0 }
    var warnings = 0

    /** Time that only goes forward, for timers. The wall clock is `skew` ahead. */
    var monotonic = 0L
        private set
    private var skew = 1_767_225_600_000L
    private val uuids = SplitMix(1)
    var process = Process(this)
        private set

    val now get() = monotonic + skew

    /** Turns the wall clock alone. */
    fun turnClock(milliseconds: Long) {
        skew += milliseconds
    }

    /** Starts a process. The one before stops in the middle of whatever it does. */
    fun boot() {
        process.kill()
        process = Process(this)
    }

    /** Lets time pass, and runs the timers that are due. */
    fun advance(milliseconds: Long) {
        val end = monotonic + milliseconds
        while (true) {
            val due = process.nextTimer?.takeIf { it <= end } ?: break
            monotonic = max(monotonic, due)
            process.fireTimer()
        }
        monotonic = end
    }

    fun uuid(): String {
        val digits = CharArray(32) { "0123456789abcdef"[uuids.below(16)] }
        digits[12] = '4'
        digits[16] = "89ab"[uuids.below(4)]
        val text = digits.concatToString()
        return listOf(0..7, 8..11, 12..15, 16..19, 20..31).joinToString("-") { text.substring(it) }
    }
}

/** One process of the app. After a kill nothing that it began goes on. */
internal class Process(private val world: World) {
    /** Not an Exception, because the SDK goes on after those. */
    private class Killed : Error()

    private class Timer(val at: Long, val run: () -> Unit)

    private val timers = ArrayList<Timer>()

    /** What happens next: requests that were made. */
    private val work = ArrayDeque<() -> Unit>()
    private val late = ArrayList<() -> Unit>()

    /** Half operations until the process is killed. */
    private var left = Int.MAX_VALUE

    /** What the storage refused and was not repeated since. */
    private val refused = HashSet<String>()
    var isDead = false
        private set
    val isFailing get() = refused.isNotEmpty()
    val nextTimer get() = if (isDead) null else timers.minOfOrNull { it.at }

    val engine = Engine(
        Environment(
            now = { world.now },
            random = { world.random() },
            uuid = world::uuid,
            storage = ProcessStorage(),
            network = ProcessNetwork(),
            timers = ProcessTimers(),
            warn = { world.warnings += 1 },
        ),
    )

    fun kill() {
        isDead = true
        timers.clear()
        work.clear()
        late.clear()
    }

    /** Kills the process after so many half operations. */
    fun doom(steps: Int) {
        left = steps
    }

    /** Calls the engine, then lets everything happen that needs no timer. Null if the process is or gets killed. */
    fun <T> run(work: (Engine) -> T): T? {
        if (isDead) return null
        return try {
            val result = work(engine)
            settle()
            result
        } catch (_: Killed) {
            null
        }
    }

    private fun settle() {
        while (true) work.removeFirstOrNull()?.invoke() ?: break
    }

    /** Answers that were late arrive. */
    fun release() {
        val arrived = late.toList()
        late.clear()
        for (arrive in arrived) run { arrive() }
    }

    fun fireTimer() {
        val timer = timers.minByOrNull { it.at } ?: return
        timers -= timer
        run { timer.run() }
    }

    /** Half of an operation. */
    private fun live() {
        if (!isDead && --left < 0) kill()
        if (isDead) throw Killed()
    }

    /** The state that the storage refused is still missing when the one before it is removed. */
    private fun note(operation: Operation, name: String, isRefused: Boolean) {
        if (operation != Operation.WRITE && operation != Operation.REMOVE) return
        if (isRefused) {
            refused += name
        } else if (operation == Operation.WRITE || name.startsWith("q.")) {
            refused -= name
        }
    }

    /** Runs an operation of the storage, which may fail, or kills the process before or after it. */
    private fun <T> touch(operation: Operation, name: String, work: () -> T): T {
        live()
        val fault = world.fault(operation)
        note(operation, name, fault != Fault.NO)
        val value = if (fault == Fault.BEFORE) null else work()
        live()
        if (fault != Fault.NO) throw IOException("$operation failed")
        @Suppress("UNCHECKED_CAST")
        return value as T
    }

    private inner class ProcessStorage : Storage {
        override fun read(name: String) = touch(Operation.READ, name) { world.stored[name] }

        override fun write(name: String, text: String) = touch(Operation.WRITE, name) { world.stored[name] = text }

        override fun remove(name: String) = touch(Operation.REMOVE, name) { world.stored.remove(name) }.let {}

        override fun names() = touch(Operation.NAMES, "") { world.stored.keys.toList() }
    }

    private inner class ProcessNetwork : Network {
        override fun post(request: Request, done: (Answer?) -> Unit) {
            work += {
                live()
                when (val reply = world.answer(request)) {
                    is Outcome.Now -> {
                        live()
                        done(reply.answer)
                    }

                    is Outcome.Later -> wait(reply.answer, done)
                }
            }
        }

        /** Without an answer in time there is none. */
        private fun wait(answer: Answer?, done: (Answer?) -> Unit) {
            var arrive = {}
            val cancel = ProcessTimers().after(ANSWER_MS) {
                late.remove(arrive)
                done(null)
            }
            arrive = {
                cancel()
                done(answer)
            }
            late += arrive
        }
    }

    private inner class ProcessTimers : Timers {
        override fun after(milliseconds: Long, run: () -> Unit): () -> Unit {
            val timer = Timer(world.monotonic + milliseconds, run)
            timers += timer
            return { timers -= timer }
        }
    }
}
