/** The command `windfall upgrade`: replaces the installed executable, and goes back if the new one fails. */
import { resolve } from 'node:path'
import { defineCommand } from 'citty'
import { Refusal } from '../../errors.ts'
import { configArg } from '../instance/instance.ts'
import { expectedSha256 } from './candidate.ts'
import type { Journal } from './journal.ts'
import { configArgs, openPlan, type Plan, shortName } from './plan.ts'
import { prepare } from './preparing.ts'
import { type Outcome, openReport } from './report.ts'
import { resume, switchOver } from './switching.ts'

/**
 * CONTAINER_IMAGE is set by the image of docs/deploy; systemd and Podman set `container`. A container whose service manager
 * runs Windfall, such as one of LXC, is upgraded like a machine.
 *
 * @throws Refusal 409 `container`: otherwise the program in a container is a part of its image.
 */
function refuseInContainer({ isService }: Plan): void {
  const { container, CONTAINER_IMAGE: image = container && 'windfall' } = process.env
  if (isService || image === undefined) return
  throw new Refusal(
    409,
    'container',
    `the program is a part of the image ${image}: build or pull the image of the new version, such as ${image}:VERSION, name it in compose.yaml, and run docker compose up -d. The server backs up the database and upgrades it when it starts`,
  )
}

async function upgrade(plan: Plan, file: string | undefined, sha256: string | undefined): Promise<Outcome> {
  const interrupted = plan.journal.read()
  if (interrupted !== null) {
    plan.report.step(4, `going on with the upgrade to ${interrupted.to}, which was interrupted`)
    const outcome = await resume(plan, interrupted)
    if (outcome !== null) return outcome
  }
  if (file === undefined)
    throw new Refusal(400, 'invalid_request', 'name the file of the new version: windfall upgrade FILE')
  const prepared = await prepare(plan, file, expectedSha256(file, sha256))
  if (!('sha256' in prepared)) return { outcome: 'unchanged', from: prepared.version, to: prepared.version }
  return plan.isService ? switchOver(plan, prepared) : byHand(plan, prepared)
}

/** What remains to do where no service runs the program. */
function byHand(
  { program, staged, previous, loaded }: Plan,
  { from, to, backup, wait_ms }: Journal,
): Outcome {
  const config = configArgs(loaded)
    .map((word) => ` ${word}`)
    .join('')
  return {
    outcome: 'by_hand',
    from,
    to,
    commands: [
      'stop the server (SIGTERM), and wait until it has ended',
      `ln -f ${program} ${previous} && mv ${staged} ${program}`,
      `${shortName(program)} serve${config}`,
      `${shortName(program)} health --wait ${Math.ceil(wait_ms / 1_000)}${config}`,
      `If it does not start: mv ${previous} ${program}, and start that. If it then says that the database was written by a newer version: ${shortName(program)} restore ${backup ?? 'BACKUP'}${config}`,
    ],
  }
}

export const upgradeCommand = defineCommand({
  meta: {
    name: 'upgrade',
    description: 'Replace the installed executable by FILE; go back if it fails (as root)',
  },
  args: {
    file: {
      type: 'positional',
      required: false,
      description: 'The new executable. Without it, an upgrade that was interrupted goes on',
    },
    sha256: {
      type: 'string',
      valueHint: 'HEX',
      description: 'The SHA-256 of FILE (default: the first word of FILE.sha256)',
    },
    wait: {
      type: 'string',
      valueHint: 'SECONDS',
      description: 'How long to wait until it is ready (default: twice the rehearsal, at least 120)',
    },
    executable: {
      type: 'string',
      valueHint: 'FILE',
      description: 'The installed executable to replace (default: the one that runs)',
    },
    ...configArg,
  },
  async run({ args }) {
    const report = openReport()
    const plan = openPlan({ config: args.config, program: args.executable, wait_seconds: args.wait, report })
    refuseInContainer(plan)
    const outcome = await upgrade(plan, args.file === undefined ? undefined : resolve(args.file), args.sha256)
    report.outcome(outcome)
    if (outcome.outcome === 'went_back' || outcome.outcome === 'undecided') process.exitCode = 1
  },
})
