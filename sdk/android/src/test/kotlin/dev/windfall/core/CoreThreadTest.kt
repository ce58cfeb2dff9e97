package dev.windfall.core

import org.junit.Assert.assertEquals
import org.junit.Assert.assertTrue
import org.junit.Test
import java.util.concurrent.CopyOnWriteArrayList
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit.SECONDS
import kotlin.concurrent.thread

/** The one thread of the engine, with its real timers. */
internal class CoreThreadTest {
    private val failures = CopyOnWriteArrayList<Throwable>()
    private val core = CoreThread { failures += it }

    /** Waits until all that was passed before has run. */
    private fun settle() {
        val end = CountDownLatch(1)
        core.run { end.countDown() }
        assertTrue("the thread stands still", end.await(20, SECONDS))
    }

    @Test
    fun `work runs on one thread that does not keep the process alive`() {
        val threads = CopyOnWriteArrayList<Thread>()
        for (number in 1..3) core.run { threads += Thread.currentThread() }
        settle()
        assertEquals(1, threads.distinct().size)
        assertEquals("windfall", threads[0].name)
        assertTrue(threads[0].isDaemon)
    }

    @Test
    fun `work of each thread runs in the order in which it came`() {
        // Written by the thread of the core alone.
        val seen = ArrayList<Pair<Int, Int>>()
        val writers = List(8) { writer -> thread { for (number in 1..500) core.run { seen += Pair(writer, number) } } }
        for (writer in writers) writer.join()
        settle()
        assertEquals(4000, seen.size)
        for ((writer, all) in seen.groupBy({ it.first }, { it.second })) {
            assertEquals("writer $writer", (1..500).toList(), all)
        }
    }

    @Test
    fun `work that fails stops nothing`() {
        val exception = IllegalStateException("a test")
        val error = AssertionError("a test")
        val timer = CountDownLatch(1)
        core.run { throw exception }
        core.after(1) { throw error }
        core.after(2) { timer.countDown() }
        assertTrue(timer.await(20, SECONDS))
        settle()
        assertEquals(listOf(exception, error), failures)
    }

    @Test
    fun `timers run once, in the order of their times and not too early`() {
        val seen = CopyOnWriteArrayList<Long>()
        val end = CountDownLatch(3)
        val start = System.nanoTime()
        for (wait in listOf(120L, 40L, 80L)) {
            core.after(wait) {
                assertTrue(System.nanoTime() - start >= wait * 1_000_000)
                seen += wait
                end.countDown()
            }
        }
        assertTrue(end.await(20, SECONDS))
        settle()
        assertEquals(listOf(40L, 80L, 120L), seen)
        assertEquals(emptyList<Exception>(), failures)
    }

    @Test
    fun `a timer that is cancelled does not run`() {
        val seen = CopyOnWriteArrayList<String>()
        val end = CountDownLatch(1)
        val cancel = core.after(30) { seen += "cancelled" }
        core.after(60) { end.countDown() }
        cancel()
        cancel()
        assertTrue(end.await(20, SECONDS))
        assertEquals(emptyList<String>(), seen)
    }
}
