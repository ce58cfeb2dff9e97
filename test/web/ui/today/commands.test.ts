import { expect, test, vi } from 'vitest'
import { withCommands } from '../../../../src/web/ui/today/commands.ts'

test('names commands within a text as they are run on this server', () => {
  vi.stubGlobal('COMMAND_NAME', 'npm run -s windfall --')
  expect(
    withCommands('To fetch them, run windfall jobs run rates; see windfall.key and Windfall is on'),
  ).toBe('To fetch them, run npm run -s windfall -- jobs run rates; see windfall.key and Windfall is on')
  vi.unstubAllGlobals()
})
