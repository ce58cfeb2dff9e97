package dev.windfall

import org.junit.Assert.assertTrue
import org.junit.Test
import java.io.File

class ReadmeTest {
    /** The build files are Gradle's. */
    private val others = listOf("dependencyResolutionManagement", "dependencies {")

    @Test
    fun `each Kotlin example of the README is compiled`() =
        check("kotlin", "src/test/kotlin/dev/windfall/ReadmeExamples.kt")

    @Test
    fun `each Java example of the README is compiled`() = check("java", "src/test/kotlin/dev/windfall/FromJava.java")

    private fun check(language: String, path: String) {
        val compiled = linesOf(File(path).readText())
        val blocks = Regex("```$language\n(.*?)```", RegexOption.DOT_MATCHES_ALL).findAll(File("README.md").readText())
            .map { it.groupValues[1] }.filter { block -> others.none { block.startsWith(it) } }.toList()
        assertTrue(blocks.isNotEmpty())
        for (line in blocks.flatMap { linesOf(it) }) assertTrue(line, line in compiled)
    }

    private fun linesOf(text: String) = text.lines().map { it.trim() }.filter {
        it.isNotEmpty() && !it.startsWith("//") &&
            it != "import dev.windfall.Windfall"
    }
}
