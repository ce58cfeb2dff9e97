/** A process that upgrades a file through synthetic versions and reports the start and end of each step. */
import { writeSync } from 'node:fs'
import { upgrade } from '../../src/store/schema/migrations.ts'
import { STEPS, VERSIONS } from '../store/schema/versions.ts'

const print = (line: string): void => void writeSync(1, `${line}\n`)

const steps = STEPS.map(({ version, up }) => ({
  version,
  up: (db: Parameters<typeof up>[0]) => {
    print(`begin ${version}`)
    up(db)
    print(`end ${version}`)
  },
}))
print('start')
await upgrade(String(process.argv[2]), { versions: { ...VERSIONS, steps } })
print('done')
