package dev.windfall.artifact

import org.junit.Assert.assertEquals
import org.junit.Assert.assertTrue
import org.junit.Test
import java.io.File

/** What the compiler makes for a data class or an enum, and what a class implements. */
private val GENERATED =
    Regex("""\.(component\d+|copy|copy\${'$'}default|toString|hashCode|equals|values|valueOf|getEntries)\(""")

/** The sample, which R8 shrinks, calls all of the public API and nothing else of the SDK. */
class SampleTest {
    private val called = methodsCalledIn(File("target/test-classes/dev/windfall/sample"))
    private val public = publicMethods()

    @Test
    fun `the sample calls every public function`() {
        val expected = public.filterNot { GENERATED.containsMatchIn(it) }
        assertTrue(expected.isNotEmpty())
        assertEquals(emptyList<String>(), expected.filterNot { it in called })
    }

    @Test
    fun `the sample calls no internal function`() {
        val own = methodsDeclaredIn(File("target/classes"))
        assertEquals(emptyList<String>(), called.filter { it in own && it !in public })
    }
}
