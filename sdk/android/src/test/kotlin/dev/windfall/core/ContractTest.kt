package dev.windfall.core

import org.junit.Test
import org.junit.runner.RunWith
import org.junit.runners.Parameterized
import org.junit.runners.Parameterized.Parameters

/** The cases of sdk/contract, each as a test. */
@RunWith(Parameterized::class)
internal class ContractTest(private val name: String, private val case: Contract.Case) {
    @Test
    fun run() {
        val runner = ContractRunner(case)
        case.steps.forEachIndexed { index, step ->
            try {
                runner.run(step)
            } catch (failure: Failure) {
                throw AssertionError("$name: step ${index + 1}: ${failure.message}", failure)
            }
        }
    }

    internal companion object {
        @JvmStatic
        @Parameters(name = "{0}")
        fun cases(): List<Array<Any>> = cases("wire.json", atLeast = 9) + cases("behaviour.json", atLeast = 60)

        private fun cases(file: String, atLeast: Int): List<Array<Any>> {
            val cases = Contract.cases(file)
            check(cases.size >= atLeast) { "$file has ${cases.size} cases for Android" }
            return cases.map { arrayOf(it.name, it) }
        }
    }
}
