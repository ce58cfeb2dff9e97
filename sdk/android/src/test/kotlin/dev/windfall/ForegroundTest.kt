package dev.windfall

import android.app.Activity
import android.os.Handler
import android.os.Looper
import org.junit.Assert.assertEquals
import org.junit.Before
import org.junit.Rule
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.Robolectric
import org.robolectric.RobolectricTestRunner
import org.robolectric.android.controller.ActivityController
import org.robolectric.annotation.Config
import org.robolectric.shadows.ShadowLooper
import java.time.Duration

@RunWith(RobolectricTestRunner::class)
@Config(sdk = [24, 35], manifest = Config.NONE)
internal class ForegroundTest {
    @get:Rule val server = Server()
    private var wakes = 0

    @Before
    fun watch() = Foreground(Handler(Looper.getMainLooper())) { wakes += 1 }.watch(application)

    private fun started(): ActivityController<Activity> =
        Robolectric.buildActivity(Activity::class.java).create().start()

    private fun pass(milliseconds: Long) = ShadowLooper.shadowMainLooper().idleFor(Duration.ofMillis(milliseconds))

    @Test
    fun `the first activity is the foreground`() {
        started()
        started()
        assertEquals(1, wakes)
    }

    @Test
    fun `the app comes back after 700 ms without an activity`() {
        val activity = started()
        activity.stop()
        pass(699)
        activity.restart()
        assertEquals(1, wakes)
        activity.stop()
        pass(700)
        activity.restart()
        assertEquals(2, wakes)
    }

    @Test
    fun `a rotation is no return`() {
        val activity = started().resume().visible()
        activity.recreate()
        pass(10_000)
        assertEquals(1, wakes)
        activity.pause().stop()
        pass(10_000)
        activity.restart()
        assertEquals(2, wakes)
    }

    @Test
    fun `an activity from before configure counts for nothing`() {
        val sdk = Sdk {}
        val early = started()
        sdk.configure(application, server.url, null, null, null)
        early.stop()
        started()
        pass(10_000)
        sdk.identify("ann", null, null)
        assertEquals("identify", server.next().first)
    }

    @Test
    fun `the foreground sends what waits for a connection`() {
        server.refusal = 503 to ""
        val sdk = Sdk {}
        sdk.configure(application, server.url, null, null, null)
        sdk.identify("ann", null, null)
        server.next()
        server.refusal = null
        started()
        assertEquals("identify", server.next().first)
    }
}
