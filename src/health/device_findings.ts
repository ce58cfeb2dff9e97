/** Findings about attested devices: only they are accepted, those of an app cannot enrol, or one names many users. */
import type { Apps } from '../apps/apps.ts'
import type { Organizations } from '../apps/organizations.ts'
import type { Attest } from '../attribution/devices/attest.ts'
import { utcMinuteText } from '../days.ts'
import { type Finding, notice, warning } from './findings.ts'

type Deps = {
  apps: Pick<Apps, 'list' | 'get'>
  organizations: Pick<Organizations, 'list'>
  attest: Pick<Attest, 'suggestions' | 'deviceUsers' | 'attestedOnly'>
}

/**
 * Yields a finding for each organization that accepts only attested devices, for each app with a suggested prefix, and
 * for each device that named too many users today.
 */
export function* deviceFindings({ apps, organizations, attest }: Deps): Generator<Finding> {
  for (const { id, name } of organizations.list()) {
    const until_at = attest.attestedOnly.untilOf(id)
    if (until_at !== null) yield attestedOnlyFinding(id, name, until_at)
  }
  for (const { id, bundle_id, team_id, organization_id } of apps.list()) {
    const prefix = attest.suggestions.of(id)
    if (prefix === null) continue
    const details = {
      id: `prefix:${id}`,
      app_id: id,
      organization_id,
      quote: `The newest refused attestation names the prefix ${prefix}, which nothing proves.`,
      remedy: `Look the prefix up under Identifiers in your developer account. If it is ${prefix}, set team_id = "${prefix}" for the app.`,
      action: { label: 'Set it', command: `windfall apps add ${bundle_id} --team-id ${prefix}` },
    }
    const title = `Devices of ${bundle_id} cannot enrol`
    if (team_id === null) yield warning('devices', 'its App ID prefix is not known.', { ...details, title })
    else {
      const words = `an attestation names another App ID prefix than ${team_id}.`
      yield notice('devices', words, { ...details, title: `A device of ${bundle_id} was refused` })
    }
  }
  yield* crowdedDevices(apps, attest)
}

function attestedOnlyFinding(organization_id: string, name: string, until_at: number): Finding {
  const words = `until ${utcMinuteText(until_at)}, SDK calls for ${name} without proof are refused, and repeated later.`
  return notice('devices', words, {
    id: `attested_only:${organization_id}`,
    title: 'Only attested devices are accepted',
    organization_id,
    action: { label: 'End it', href: '/settings/security' },
  })
}

/** The devices that named many users today. A person has few accounts, so a script may use the token. */
function* crowdedDevices(apps: Deps['apps'], { deviceUsers }: Deps['attest']): Generator<Finding> {
  for (const { device_id, app_id } of deviceUsers.overLimitToday()) {
    const app = apps.get(app_id)
    if (app === null || app.gone_at !== null) continue
    const details = {
      id: `device:${device_id}`,
      title: 'One device names many users',
      app_id,
      organization_id: app.organization_id,
      remedy: `If it is not one of yours, revoke it: windfall devices revoke ${device_id}`,
    }
    const words = `the device ${device_id} of ${app.bundle_id} named more than 20 users today. A script may use its token.`
    yield warning('devices', words, details)
  }
}
