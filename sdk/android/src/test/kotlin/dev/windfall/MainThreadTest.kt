package dev.windfall

import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.RobolectricTestRunner
import org.robolectric.annotation.Config
import java.io.File
import java.net.ServerSocket
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit.SECONDS

/** Robolectric has no StrictMode for files and sockets, so both hang here: a call that waited for them would not return. */
@RunWith(RobolectricTestRunner::class)
@Config(sdk = [24, 35], manifest = Config.NONE)
class MainThreadTest {
    private fun callAll(sdk: Sdk, url: String) {
        sdk.configure(application, url, "pk_live_1", null) {}
        sdk.identify("ann", mapOf("plan" to "pro"), null)
        sdk.setAttributes(mapOf("plan" to "free"), null)
        sdk.attributePurchase("token-1", "pro", isObserved = true, null)
        sdk.attributePurchase("token-1", "pro", isObserved = false, null)
        sdk.reset(null)
        sdk.flush(null)
        sdk.debugState {}
    }

    @Test
    fun `no call waits for the storage`() {
        val folder = folderOf(application)
        folder.mkdirs()
        val state = File(folder, "s.json")
        assertEquals(0, ProcessBuilder("mkfifo", state.path).start().waitFor())
        // Who reads it waits for a writer.
        withoutWaiting({ state.writeText("") }) { callAll(Sdk {}, "http://127.0.0.1:1") }
    }

    @Test
    fun `no call waits for the network`() {
        ServerSocket(0).use { silent ->
            withoutWaiting({ silent.close() }) { callAll(Sdk {}, "http://127.0.0.1:${silent.localPort}") }
        }
    }

    /** Fails if `calls` returns only because `end` ended what it waited for. */
    private fun withoutWaiting(end: () -> Unit, calls: () -> Unit) {
        val returned = CountDownLatch(1)
        val late = CompletableFuture.supplyAsync {
            val isLate = !returned.await(15, SECONDS)
            end()
            isLate
        }
        calls()
        returned.countDown()
        assertFalse(late.get())
    }
}
