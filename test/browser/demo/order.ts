/** The order of test files: while the shared demo is prepared for the first file that needs it, the others run. */
import { readFileSync } from 'node:fs'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const needsDemo = ({ moduleId }: TestSpecification): boolean =>
  readFileSync(moduleId, 'utf8').includes('openDemo(')

export class DemoOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const [first, ...rest] = sorted.filter(needsDemo)
    return first === undefined ? sorted : [first, ...sorted.filter((file) => !needsDemo(file)), ...rest]
  }
}
