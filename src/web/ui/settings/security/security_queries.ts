/** Queries of who may call. */
import type { InferOutput } from 'valibot'
import type { SecurityAnswer } from '../../../../api/owner/security.ts'
import { write } from '../../http.ts'
import { invalidate, type QueryResult, useQuery } from '../../queries.ts'

type SecurityData = InferOutput<typeof SecurityAnswer>
export type CallsData = SecurityData['calls']
export type AttestedOnlyState = SecurityData['attested_only'][number]

const PATH = '/api/v1/security'

export const useSecurity = (): QueryResult<SecurityData> =>
  useQuery<SecurityData>(PATH, {}, { interval_ms: 30_000 })

/** Accepts only attested devices from now on, or all calls again. */
export async function setAttestedOnly(organization_id: string, isOn: boolean): Promise<void> {
  const path = `/api/v1/organizations/${encodeURIComponent(organization_id)}/attested-only`
  await write(isOn ? 'POST' : 'DELETE', path)
  await invalidate(PATH, '/api/v1/status', '/api/v1/audit')
}
