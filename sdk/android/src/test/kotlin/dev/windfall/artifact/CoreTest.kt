package dev.windfall.artifact

import org.junit.Assert.assertEquals
import org.junit.Assert.assertTrue
import org.junit.Test
import java.io.File

/** The core runs without Android. */
class CoreTest {
    @Test
    fun `the core names no class of Android`() {
        val names = classesNamedIn(File("target/classes/dev/windfall/core"))
        assertTrue(names.isNotEmpty())
        assertEquals(emptyList<String>(), names.filter { it.startsWith("android/") || it.startsWith("com/android/") })
    }

    @Test
    fun `the core names no class of the layer above it`() {
        val names = classesNamedIn(File("target/classes/dev/windfall/core"))
        val own = Regex("dev/windfall/(?!core/).*")
        assertEquals(emptyList<String>(), names.filter { own.matches(it) })
    }
}
