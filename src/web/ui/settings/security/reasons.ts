/** Words for where calls came in and why they were refused. */
import type { CallsData } from './security_queries.ts'

type AreaCounts = CallsData['areas'][number]
type Reason = AreaCounts['reasons'][number]

export const AREA_TITLES: Record<AreaCounts['area'], string> = {
  sdk: 'SDK calls',
  enrolment: 'Enrolment of devices',
  apple: 'Notifications from Apple',
  sign_in: 'Sign-in',
  api: 'API and dashboard',
  other: 'Pages and other requests',
  connection: 'Connections',
}

const LIMITS: Readonly<Record<string, string>> = {
  address: 'Rate limit of an address',
  network: 'Rate limit of a network',
  device: 'Rate limit of a device',
  organization: 'Rate limit of the organization',
  reserved: 'Rate limit: room left for known callers',
  account: 'Rate limit of codes',
}

const CODES: Readonly<Record<string, string>> = {
  rate_limited: 'Rate limit',
  attested_only: 'Not an attested device',
  busy: 'Too busy',
  invalid_key: 'Wrong key',
  credential_required: 'Key required',
  app_not_in_organization: 'Key of another organization',
  unknown_app: 'App not connected',
  invalid_assertion: 'Wrong signature of a device',
  assertion_required: 'Signature of a device required',
  stale_assertion: 'Repeated signature of a device',
  attestation_failed: 'Attestation failed',
  invalid_signature: 'Not signed by Apple',
  invalid_signed_transaction: 'Purchase not signed by Apple',
  token_required: 'Token required',
  invalid_token: 'Wrong token',
  sign_in_required: 'Sign-in required',
  wrong_password: 'Wrong password',
  wrong_passcode: 'Wrong passcode',
  wrong_passkey: 'Wrong passkey',
  wrong_code: 'Wrong code',
  code_required: 'Code required',
  too_large: 'Too large',
  invalid_request: 'Invalid fields',
  invalid_json: 'Invalid JSON',
  not_found: 'Unknown address',
  misdirected: 'Request for another host',
  request_timeout: 'Too slow',
  bad_request: 'Not HTTP',
  forgotten: 'Erased user',
  connection_ended: 'Displaced, most connections were in use',
  connection_refused: 'Refused, all connections were in use',
}

/** The words for a reason. A code without words is its own title. */
export const reasonTitle = ({ code, limit }: Reason): string =>
  (limit === null ? undefined : LIMITS[limit]) ?? CODES[code] ?? code

type Row = Reason & { area: AreaCounts['area'] }

/** Why calls were refused, over all areas, the most frequent reasons first. */
export const reasonRows = (areas: readonly AreaCounts[]): Row[] =>
  areas
    .flatMap(({ area, reasons }) => reasons.map((reason) => ({ ...reason, area })))
    .sort((a, b) => b.calls - a.calls)
