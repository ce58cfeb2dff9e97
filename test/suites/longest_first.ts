/** The order of the fault suite: the longest files first, so that no worker is left alone with one at the end. */
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files of half a minute and more, longest first. By size, the first of them would begin near the end. */
const LONGEST = [
  'test/docs/running/commands.fault.ts',
  'test/faults/figures.fault.ts',
  'test/faults/upgrade/upgrade.test.ts',
  'test/faults/upgrade/killed.test.ts',
  'test/faults/crash.test.ts',
  'test/faults/forwarding/crashes.fault.ts',
]

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const longest = LONGEST.flatMap((name) => sorted.filter(({ moduleId }) => moduleId.endsWith(name)))
    return [...longest, ...sorted.filter((file) => !longest.includes(file))]
  }
}
