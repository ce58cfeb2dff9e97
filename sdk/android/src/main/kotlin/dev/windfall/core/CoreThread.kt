package dev.windfall.core

import java.util.concurrent.ScheduledThreadPoolExecutor
import java.util.concurrent.TimeUnit.MILLISECONDS

/** The one thread that the engine runs on. `failed` takes what must not reach the app. */
internal class CoreThread(private val failed: (Throwable) -> Unit) : Timers {
    private val executor = ScheduledThreadPoolExecutor(1) { Thread(it, "windfall").apply { isDaemon = true } }
        .apply { removeOnCancelPolicy = true }

    /** Runs `work` after all that was passed before. */
    fun run(work: () -> Unit) = executor.execute(guarded(work))

    override fun after(milliseconds: Long, run: () -> Unit): () -> Unit {
        val scheduled = executor.schedule(guarded(run), milliseconds, MILLISECONDS)
        return { scheduled.cancel(false) }
    }

    private fun guarded(work: () -> Unit) = Runnable {
        try {
            work()
        } catch (error: Throwable) {
            // The executor would keep an error to itself.
            failed(error)
        }
    }
}
