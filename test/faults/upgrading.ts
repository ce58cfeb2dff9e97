/** A process of its own that upgrades a file through the synthetic versions, and says when each step begins and ends. */
import { writeSync } from 'node:fs'
import { upgrade } from '../../src/store/schema/migrations.ts'
import { STEPS, VERSIONS } from '../store/schema/versions.ts'

const say = (line: string): void => void writeSync(1, `${line}\n`)

const steps = STEPS.map(({ version, up }) => ({
  version,
  up: (db: Parameters<typeof up>[0]) => {
    say(`begin ${version}`)
    up(db)
    say(`end ${version}`)
  },
}))
say('start')
await upgrade(String(process.argv[2]), { versions: { ...VERSIONS, steps } })
say('done')
